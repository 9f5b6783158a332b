//! The coming animation of Bevy's players.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use bevy_animation::{
    AnimatedBy, AnimationClip, AnimationPlayer, AnimationTargetId, RepeatAnimation,
    animatable::{Animatable, BlendInput},
    animated_field,
    graph::{AnimationGraph, AnimationGraphHandle, AnimationNodeIndex, AnimationNodeType},
};
use bevy_asset::{AssetEvent, AssetId, Assets};
use bevy_ecs::{
    entity::Entity,
    message::MessageReader,
    query::With,
    resource::Resource,
    system::{Query, Res, ResMut, SystemParam},
};
use bevy_math::{Quat, Vec3};
use bevy_platform::hash::NoOpHash;
use bevy_transform::components::Transform;
use sinew::{JointId, JointTransform, Pose, math};

use crate::{FootPlanting, binding::Bound};

/// Samples of a clip in a second: a sample of Bevy's own is boxed, so that none is taken in a frame.
const RATE: f32 = 60.0;

/// Samples of a clip at most: one of more than a minute has fewer a second.
const MOST: f32 = 3600.0;

/// Clips as the samples of a second, since they were loaded.
#[derive(Resource, Default)]
pub(crate) struct Clips {
    known: HashMap<AssetId<AnimationClip>, Arc<Tracks>>,
    /// Those that have come while there were no feet in the world.
    waiting: HashSet<AssetId<AnimationClip>>,
}

/// A clip.
#[derive(Debug)]
struct Tracks {
    duration: f32,
    targets: HashMap<AnimationTargetId, Target, NoOpHash>,
}

/// The animation of one bone: samples at even times from the beginning to the end; one, where it does not change, and none, where
/// it is not animated.
#[derive(Debug)]
struct Target {
    translation: Vec<Vec3>,
    rotation: Vec<Quat>,
    scale: Vec<Vec3>,
}

/// What is animated of a bone.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
struct Local {
    translation: Option<Vec3>,
    rotation: Option<Quat>,
    scale: Option<Vec3>,
}

impl Tracks {
    fn new(clip: &AnimationClip) -> Self {
        let duration = clip.duration().max(0.0);
        let steps = (duration * RATE).ceil().clamp(1.0, MOST) as usize;
        let of =
            |&target: &AnimationTargetId| {
                let times = || (0..=steps).map(|step| duration * step as f32 / steps as f32);
                let of =
                    Target {
                        translation: samples(times().map(|time| {
                            clip.sample_clamped(animated_field!(Transform::translation), target, time)
                        })),
                        rotation: samples(times().map(|time| {
                            clip.sample_clamped(animated_field!(Transform::rotation), target, time)
                        })),
                        scale: samples(times().map(|time| {
                            clip.sample_clamped(animated_field!(Transform::scale), target, time)
                        })),
                    };
                (target, of)
            };
        Self { duration, targets: clip.curves().keys().map(of).collect() }
    }

    /// What the clip makes of a bone.
    fn sample(&self, target: &AnimationTargetId, time: f32) -> Option<Local> {
        let of = self.targets.get(target)?;
        let share = if self.duration > 0.0 { (time / self.duration).clamp(0.0, 1.0) } else { 0.0 };
        let lerp = |a: &Vec3, b: &Vec3, t| a.lerp(*b, t);
        Some(Local {
            translation: between(&of.translation, share, lerp),
            // Samples are so near to each other that their mean is on the way.
            rotation: between(&of.rotation, share, |a, b, t| {
                let near = if a.dot(*b) < 0.0 { -*b } else { *b };
                math::normalize(*a + (near - *a) * t)
            }),
            scale: between(&of.scale, share, lerp),
        })
    }
}

/// All samples, or none if one of them is missing.
fn samples<T: PartialEq>(samples: impl Iterator<Item = Option<T>>) -> Vec<T> {
    let mut values: Vec<T> = samples.collect::<Option<_>>().unwrap_or_default();
    if values.windows(2).all(|pair| pair[0] == pair[1]) {
        values.truncate(1);
    }
    values
}

/// The value at a share of the samples' time.
fn between<T: Copy>(samples: &[T], share: f32, mix: impl Fn(&T, &T, f32) -> T) -> Option<T> {
    let last = samples.len().checked_sub(1)?;
    let at = share * last as f32;
    let (a, b) = (samples.get(at as usize)?, samples.get((at as usize + 1).min(last))?);
    Some(mix(a, b, at.fract()))
}

pub(crate) fn load(
    mut clips: ResMut<Clips>,
    assets: Option<Res<Assets<AnimationClip>>>,
    mut events: MessageReader<AssetEvent<AnimationClip>>,
    feet: Query<(), With<FootPlanting>>,
) {
    let Some(assets) = assets else { return };
    let clips = &mut *clips;
    for event in events.read() {
        match event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => _ = clips.waiting.insert(*id),
            AssetEvent::Removed { id } => {
                clips.known.remove(id);
                clips.waiting.remove(id);
            }
            _ => {}
        }
    }
    // Whoever plants no feet pays nothing.
    if !clips.waiting.is_empty() && !feet.is_empty() {
        for id in clips.waiting.drain() {
            if let Some(clip) = assets.get(id) {
                clips.known.insert(id, Arc::new(Tracks::new(clip)));
            }
        }
    }
}

/// Players, what they play, and the bones that they animate.
#[derive(SystemParam)]
pub(crate) struct Players<'w, 's> {
    bones: Query<'w, 's, (&'static AnimationTargetId, &'static AnimatedBy)>,
    players: Query<'w, 's, (&'static AnimationPlayer, &'static AnimationGraphHandle)>,
    graphs: Option<Res<'w, Assets<AnimationGraph>>>,
    clips: Res<'w, Clips>,
}

/// A clip that is playing.
#[derive(Clone, Debug)]
struct Playing {
    tracks: Arc<Tracks>,
    /// Time in the clip in this frame.
    time: f32,
    /// Seconds of the clip a second.
    speed: f32,
    /// Rounds that are left, with this one; infinite for a clip that repeats for ever.
    left: f32,
    /// Whether it has begun a round before.
    again: bool,
}

impl Playing {
    /// The time in the clip, `later` seconds from this frame.
    fn time(&self, later: f32) -> f32 {
        let (length, time) = (self.tracks.duration, self.time + later * self.speed);
        if length <= 0.0 || self.speed == 0.0 {
            return self.time;
        }
        // Before its first round and after its last one it stands.
        let (rounds, within) = ((time / length).floor(), time.rem_euclid(length));
        let (before, after) = if self.speed > 0.0 { (rounds < 0.0, rounds) } else { (rounds > 0.0, -rounds) };
        match self.speed > 0.0 {
            true if before && !self.again => 0.0,
            false if before && !self.again => length,
            true if after >= self.left => length,
            false if after >= self.left => 0.0,
            _ => within,
        }
    }
}

/// A step in which a graph is evaluated: children come before their parents.
#[derive(Clone, Debug)]
enum Step {
    Clip { playing: Option<Playing>, weight: f32, mask: u64 },
    Node { children: usize, weight: f32, adds: bool },
}

/// Levels of a graph of animations, for one that is a cycle, and steps, for one whose nodes have many parents: each way to a node
/// is a step.
const LEVELS: usize = 64;
const STEPS: usize = 1024;

/// The coming animation of a character's bones.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    /// The bones of the part, and their targets, for the part whose pose is `scratch`.
    bones: Vec<(JointId, AnimationTargetId, u64)>,
    player: Option<Entity>,
    steps: Vec<Step>,
    /// Scratch of the evaluation.
    stack: Vec<(Local, f32)>,
    children: Vec<AnimationNodeIndex>,
    /// The bones as the players have them in this frame.
    now: Vec<Local>,
    /// Whether what comes is known.
    pub known: bool,
}

impl Ahead {
    /// The part is another one.
    pub fn forget(&mut self) {
        self.bones.clear();
        self.player = None;
        self.known = false;
    }

    /// Reads what plays on these joints of the whole skeleton, and on those above them.
    pub fn read(&mut self, joints: &[JointId], bound: &Bound, players: &Players) {
        self.known = self.read_within(joints, bound, players).is_some();
    }

    fn read_within(&mut self, joints: &[JointId], bound: &Bound, players: &Players) -> Option<()> {
        let graphs = players.graphs.as_ref()?;
        if self.bones.is_empty() {
            let skeleton = &bound.kit.skeleton;
            for (at, ((bone, _), above)) in bound.joints.iter().zip(&bound.part.whole).enumerate() {
                if !joints.iter().any(|joint| skeleton.is_below(*joint, *above)) {
                    continue;
                }
                // Bones that no player animates stay as they are; one player has all others.
                let Ok((target, by)) = players.bones.get(*bone) else { continue };
                if *self.player.get_or_insert(by.0) != by.0 {
                    self.forget();
                    return None;
                }
                self.bones.push((bound.part.skeleton.joint_at(at)?, *target, 0));
            }
        }
        let (player, handle) = players.players.get(self.player?).ok()?;
        let graph = graphs.get(&handle.0)?;
        for (_, target, groups) in &mut self.bones {
            *groups = graph.mask_groups.get(target).copied().unwrap_or(0);
        }
        self.steps.clear();
        self.children.clear();
        self.add(graph, graph.root, 0, LEVELS, player, &players.clips)?;
        // The bones are evaluated at this frame once, when a time of another one is asked for.
        self.now.clear();
        Some(())
    }

    /// Adds a node of the graph, after those below it. `None` for a graph that is a cycle, or too large.
    fn add(
        &mut self,
        graph: &AnimationGraph,
        index: AnimationNodeIndex,
        mask: u64,
        levels: usize,
        player: &AnimationPlayer,
        clips: &Clips,
    ) -> Option<()> {
        let node = graph.get(index).filter(|_| self.steps.len() < STEPS)?;
        let (mask, levels) = (mask | node.mask, levels.checked_sub(1)?);
        if let AnimationNodeType::Clip(clip) = &node.node_type {
            let active = player.animation(index);
            let playing = active.zip(clips.known.get(&clip.id())).map(|(active, tracks)| Playing {
                tracks: tracks.clone(),
                time: active.seek_time(),
                speed: if active.is_paused() || active.is_finished() { 0.0 } else { active.speed() },
                left: match active.repeat_mode() {
                    RepeatAnimation::Forever => f32::INFINITY,
                    RepeatAnimation::Never => 1.0,
                    RepeatAnimation::Count(count) => count.saturating_sub(active.completions()) as f32,
                },
                again: active.completions() > 0,
            });
            let weight = node.weight * active.map_or(0.0, |active| active.weight());
            self.steps.push(Step::Clip { playing, weight, mask });
            return Some(());
        }
        // In the order of their indices, as Bevy blends them.
        let from = self.children.len();
        self.children.extend(graph.graph.neighbors(index));
        self.children[from..].sort_unstable();
        let to = self.children.len();
        for at in from..to {
            self.add(graph, self.children[at], mask, levels, player, clips)?;
        }
        self.children.truncate(from);
        let adds = matches!(node.node_type, AnimationNodeType::Add);
        self.steps.push(Step::Node { children: to - from, weight: node.weight, adds });
        Some(())
    }

    /// What the players make of a bone, `later` seconds from this frame.
    fn bone(&mut self, target: AnimationTargetId, groups: u64, later: f32) -> Local {
        self.stack.clear();
        for step in &self.steps {
            match step {
                Step::Clip { playing, weight, mask } => {
                    let playing = playing.as_ref().filter(|_| mask & groups == 0);
                    let local =
                        playing.and_then(|playing| playing.tracks.sample(&target, playing.time(later)));
                    self.stack.push((local.unwrap_or_default(), *weight));
                }
                Step::Node { children, weight, adds } => {
                    let from = self.stack.len().saturating_sub(*children);
                    let below = &self.stack[from..];
                    let local = Local {
                        translation: blend(below.iter().map(|(local, w)| (local.translation, *w)), *adds),
                        rotation: blend(below.iter().map(|(local, w)| (local.rotation, *w)), *adds),
                        scale: blend(below.iter().map(|(local, w)| (local.scale, *w)), *adds),
                    };
                    self.stack.truncate(from);
                    self.stack.push((local, *weight));
                }
            }
        }
        self.stack.pop().unwrap_or_default().0
    }

    /// Moves the local transforms of a pose of this frame to what they will be `later` seconds from now. What else moves its bones stays on top: each changes
    /// as the animation does.
    pub fn pose(&mut self, later: f32, pose: &mut Pose) {
        for at in 0..self.bones.len() {
            let (joint, target, groups) = self.bones[at];
            if self.now.len() == at {
                let now = self.bone(target, groups, 0.0);
                self.now.push(now);
            }
            let (now, then) = (self.now[at], self.bone(target, groups, later));
            let was = *pose.local(joint);
            let local = JointTransform {
                translation: match (now.translation, then.translation) {
                    (Some(now), Some(then)) => was.translation + (then - now),
                    _ => was.translation,
                },
                rotation: match (now.rotation, then.rotation) {
                    (Some(now), Some(then)) => {
                        math::normalize(math::mul(was.rotation, math::mul(math::conjugate(now), then)))
                    }
                    _ => was.rotation,
                },
                scale: match (now.scale, then.scale) {
                    (Some(now), Some(then)) => was.scale + (then - now),
                    _ => was.scale,
                },
            };
            if local != was {
                pose.set_local(joint, local);
            }
        }
    }
}

/// Blends or adds values by their weights, as a node of Bevy's graphs does.
fn blend<T: Animatable + Clone>(values: impl Iterator<Item = (Option<T>, f32)>, adds: bool) -> Option<T> {
    let mut blended: Option<(T, f32)> = None;
    for (value, weight) in values {
        let Some(value) = value else { continue };
        let added = |weight, value| BlendInput { weight, value, additive: true };
        blended = Some(match (blended, adds) {
            (None, false) => (value, weight),
            (None, true) => (T::blend([added(weight, value)].into_iter()), weight),
            (Some((known, all)), true) => {
                (T::blend([added(1.0, known), added(weight, value)].into_iter()), all + weight)
            }
            (Some((known, all)), false) => {
                let all = all + weight;
                let share = if all == 0.0 { 0.0 } else { weight / all };
                (T::interpolate(&known, &value, share), all)
            }
        });
    }
    blended.map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bevy_animation::{
        AnimationPlugin,
        animation_curves::{AnimatableCurve, AnimatableKeyframeCurve},
    };
    use bevy_app::{App, PostUpdate, TaskPoolPlugin};
    use bevy_asset::{AssetPlugin, Handle};
    use bevy_ecs::{hierarchy::ChildOf, name::Name, schedule::IntoScheduleConfigs};
    use bevy_time::{TimePlugin, TimeUpdateStrategy};
    use bevy_transform::TransformPlugin;

    use super::*;
    use crate::{IkBinding, IkSkeleton, IkSystems, SinewPlugin};

    const NAMES: [&str; 3] = ["hips", "knee", "foot"];
    const DT: f32 = 1.0 / 60.0;

    /// What was foreseen of each bone for the next frame and for the one after 0.25 s.
    #[derive(Resource, Default)]
    struct Foreseen(Vec<[Vec<JointTransform>; 2]>);

    fn foresee(characters: Query<&IkBinding>, players: Players, mut foreseen: ResMut<Foreseen>) {
        for binding in &characters {
            let Some(bound) = binding.bound.as_deref() else { continue };
            let mut ahead = Ahead::default();
            ahead.read(&bound.part.whole, bound, &players);
            assert!(ahead.known);
            let poses = [DT, 0.25].map(|later| {
                let mut pose = bound.pose.clone();
                for (joint, (_, kept)) in bound.part.skeleton.joints().zip(&bound.joints) {
                    pose.set_local(joint, kept.base);
                }
                ahead.pose(later, &mut pose);
                pose.locals().to_vec()
            });
            foreseen.0.push(poses);
        }
    }

    fn target(name: &str) -> AnimationTargetId {
        AnimationTargetId::from_name(&Name::new(name.to_owned()))
    }

    /// A clip of this length, other for each seed: smooth to a thousandth between keys.
    fn clip(length: f32, seed: f32, names: &[&str]) -> AnimationClip {
        let mut clip = AnimationClip::default();
        let times = move || (0..=120).map(move |n| length * n as f32 / 120.0);
        for (n, name) in names.iter().enumerate() {
            let (of, wave) = (target(name), move |time: f32| (seed + n as f32 + 2.0 * time / length).sin());
            let turn =
                move |time: f32| Quat::from_rotation_x(wave(time)) * Quat::from_rotation_z(0.5 * wave(time));
            let keys = times().map(move |time| (time, turn(time)));
            let curve = AnimatableKeyframeCurve::new(keys).unwrap();
            clip.add_curve_to_target(of, AnimatableCurve::new(animated_field!(Transform::rotation), curve));
            let keys = times().map(move |time| (time, Vec3::new(wave(time), 1.0, seed)));
            let curve = AnimatableKeyframeCurve::new(keys).unwrap();
            clip.add_curve_to_target(
                of,
                AnimatableCurve::new(animated_field!(Transform::translation), curve),
            );
        }
        clip
    }

    /// Bevy's own next frames, for graphs of clips, blends and additions with weights and masks, and for all ways to play.
    #[test]
    fn what_is_foreseen_comes() {
        let mut app = App::new();
        app.add_plugins((TaskPoolPlugin::default(), TimePlugin, AssetPlugin::default(), TransformPlugin));
        app.add_plugins((AnimationPlugin, SinewPlugin)).init_resource::<Foreseen>();
        app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(DT)));
        app.add_systems(PostUpdate, foresee.after(IkSystems::Write));
        app.finish();
        app.cleanup();

        let mut add = |clip: AnimationClip| -> Handle<AnimationClip> {
            app.world_mut().resource_mut::<Assets<AnimationClip>>().add(clip)
        };
        let clips = [
            add(clip(1.0, 0.3, &NAMES)),
            add(clip(0.7, 1.1, &NAMES[..2])),
            add(clip(1.3, 2.0, &NAMES)),
            add(clip(0.5, 2.9, &NAMES[1..])),
        ];
        let mut graph = AnimationGraph::new();
        graph.add_target_to_mask_group(target("knee"), 1);
        let root = graph.root;
        let blended = graph.add_blend(0.6, root);
        let added = graph.add_additive_blend(0.8, root);
        let nodes = [
            graph.add_clip(clips[0].clone(), 0.7, blended),
            graph.add_clip_with_mask(clips[1].clone(), 2, 0.4, blended),
            graph.add_clip(clips[2].clone(), 1.0, added),
            graph.add_clip(clips[3].clone(), 0.3, added),
        ];
        let graph = app.world_mut().resource_mut::<Assets<AnimationGraph>>().add(graph);
        let mut player = AnimationPlayer::default();
        player.play(nodes[0]).repeat();
        player.play(nodes[1]).set_speed(-0.8).set_repeat(RepeatAnimation::Count(3));
        player.play(nodes[2]).set_speed(1.7).set_weight(0.5);
        player.play(nodes[3]).set_repeat(RepeatAnimation::Count(2));

        let world = app.world_mut();
        let character = world.spawn((IkSkeleton::default(), player, AnimationGraphHandle(graph))).id();
        let (mut above, mut bones) = (character, Vec::new());
        for name in NAMES {
            let bone = (Transform::default(), Name::new(name), target(name), AnimatedBy(character));
            above = world.spawn((bone, ChildOf(above))).id();
            bones.push(above);
        }
        // All bones are read.
        let chain = crate::ChainIk::new("hips", "foot").at(character);
        world.entity_mut(character).insert(crate::ChainIk { position_influence: 1e-9, ..chain });
        // It has no legs, but clips are sampled for it.
        world.spawn(FootPlanting::default());

        let mut seen = Vec::new();
        for _ in 0..240 {
            app.update();
            let binding = app.world().get::<IkBinding>(character).unwrap();
            let bases = |bound: &Bound| bound.joints.iter().map(|(_, kept)| kept.base).collect::<Vec<_>>();
            seen.push(binding.bound.as_deref().map_or(Vec::new(), bases));
        }
        let foreseen = &app.world().resource::<Foreseen>().0;
        let (offset, mut most, mut compared) = (seen.len() - foreseen.len(), [0.0_f32; 2], 0);
        for (frame, poses) in foreseen.iter().enumerate().skip(2) {
            for (pose, (later, most)) in poses.iter().zip([1, 15].into_iter().zip(&mut most)) {
                let Some(came) = seen.get(frame + offset + later) else { continue };
                assert_eq!(pose.len(), 3);
                for (foreseen, came) in pose.iter().zip(came) {
                    compared += 1;
                    *most = most.max(math::angle_between(foreseen.rotation, came.rotation));
                    *most = most.max(foreseen.translation.distance(came.translation));
                }
            }
        }
        // Clips are kept at 60 Hz, and cut by their ends between two samples.
        assert!(compared > 1200 && most.iter().all(|most| *most < 2e-3), "{most:?} of {compared}");
    }

    /// A ladder whose every rung has two ways to the next: a million million ways down, none of which is followed to its end.
    #[test]
    fn graphs_of_many_ways_are_given_up() {
        let mut graph = AnimationGraph::new();
        let mut above = graph.root;
        for _ in 0..40 {
            let sides = [(); 2].map(|()| graph.add_blend(1.0, above));
            above = graph.add_blend(1.0, sides[0]);
            graph.add_edge(sides[1], above);
        }
        let mut ahead = Ahead::default();
        let (player, clips) = (AnimationPlayer::default(), Clips::default());
        assert!(ahead.add(&graph, graph.root, 0, 1000, &player, &clips).is_none());
        assert!(ahead.steps.len() <= STEPS);
    }
}
