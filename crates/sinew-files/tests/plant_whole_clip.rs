//! The sample's walk planted with the whole clip in sight: what stands is on the ground and stays, by the grounds' own
//! height functions and by the places of the feet in the planted clip; and a frame of it allocates nothing.

use std::sync::Arc;

use allocation_counter::measure;
use glam::Vec3;
use sinew::{
    JointId, Pose, Skeleton,
    body::BodyRoles,
    ground::{
        Filter, Ground, Hit, MeshGround, TriangleMesh,
        plant::{
            ClipOptions, Figure, FootFrame, FootholdSearch, Leg, Plan, PlanError, PlantError, PlantOptions,
            PlantedClip, Planting, Sole, Stride, plant_clip,
        },
        terrain::{Flight, Rough, Slope, Stairs},
    },
    motion::{Clip, Interpolation, JointTracks, Track},
};
use sinew_files::sample;

struct Walk {
    skeleton: Arc<Skeleton>,
    clip: Clip,
    rest: Pose,
    figure: Figure,
}

fn walk() -> Walk {
    let model = sample::mannequin().unwrap();
    let rest = Pose::rest(&model.skeleton);
    let joint = |name: &str| model.skeleton.find(name).unwrap();
    let legs = ["L", "R"].map(|side| {
        let [thigh, shin, foot, toes] =
            ["thigh", "shin", "foot", "toes"].map(|part| joint(&format!("{part}.{side}")));
        // The mannequin's soles are flat: the heel is the hindmost of the lowest vertices, the tip the foremost.
        let below = |j: JointId| j == foot || j == toes;
        let at = |j: JointId, p: Vec3| rest.model(j).transform_point3(p);
        let sole: Vec<Vec3> =
            model.skin.iter().filter(|v| below(v.joint)).map(|v| at(v.joint, v.position)).collect();
        let sole = Sole::from_mesh(&rest, foot, Some(toes), 0.85, &sole).unwrap();
        Leg::new(thigh, shin, foot, Some(toes), sole)
    });
    let figure = Figure::new(&rest, joint("hips"), legs.into(), 1.75).unwrap();
    Walk { skeleton: model.skeleton.clone(), clip: model.clips[0].clone(), rest, figure }
}

type Height = Box<dyn Fn(f32, f32) -> Option<f32>>;

/// Each ground with its height at a place, which is independent of the triangles.
fn grounds() -> Vec<(&'static str, TriangleMesh, Height)> {
    let up = Stairs::new().with_rise(0.12).with_going(0.40).with_lead(0.7);
    let down = up.with_flight(Flight::Down);
    let slope = Slope::new().with_angle(20f32.to_radians()).with_length(8.0).with_lead(0.7);
    let falls = slope.with_angle(-slope.angle);
    let rough = Rough::new().with_level(0.0).with_cell(0.02);
    vec![
        ("stairs up", up.mesh().unwrap(), Box::new(move |x, z| up.height(x, z))),
        ("stairs down", down.mesh().unwrap(), Box::new(move |x, z| down.height(x, z))),
        ("slope up", slope.mesh().unwrap(), Box::new(move |x, z| slope.height(x, z))),
        ("slope down", falls.mesh().unwrap(), Box::new(move |x, z| falls.height(x, z))),
        ("rough", rough.mesh().unwrap(), Box::new(move |x, z| Some(rough.height(x, z)))),
    ]
}

fn plant(walk: &Walk, mesh: TriangleMesh) -> (Plan, PlantedClip) {
    let ground = MeshGround::new(mesh).unwrap();
    let Walk { figure, rest, clip, .. } = walk;
    let Planting { plan, planted, .. } =
        plant_clip(figure, rest, clip, &ground, &ClipOptions::default()).unwrap();
    (plan, planted)
}

#[test]
fn what_stands_is_on_the_ground_and_stays() {
    let walk = walk();
    for (name, mesh, height) in grounds() {
        let ground = MeshGround::new(mesh.clone()).unwrap();
        let (plan, planted) = plant(&walk, mesh);
        let settings = PlantOptions::default();
        let leg = walk.figure.leg_length();
        let search = FootholdSearch { ground: &ground, settings: &settings, leg, scale: 1.75 / 1.8 };
        let mut pose = walk.rest.clone();
        // Seconds in contact and held, of heels and of balls.
        let (mut checked, mut claimed, mut contact) = (0, [0.0; 2], [0.0; 2]);
        for outcome in plan.contacts(&walk.figure, &planted, &search) {
            let point = usize::from(outcome.point == "ball");
            contact[point] += outcome.time.length();
            if outcome.unplanted.is_some() {
                continue;
            }
            claimed[point] += outcome.time.length();
            let joints = &walk.figure.legs()[outcome.leg];
            let local = if outcome.point == "heel" { joints.sole.heel } else { joints.sole.ball };
            let mut places: Vec<Vec3> = Vec::new();
            for &time in planted.times.iter().filter(|t| outcome.time.contains(**t)) {
                planted.clip.sample(time, &mut pose);
                pose.update();
                let at = pose.model(joints.foot).transform_point3(local);
                let over = at.y - height(at.x, at.z).unwrap();
                // 2 mm, and what a grid of 2 cm leaves out of rough ground's curves.
                assert!(over.abs() < 3e-3, "{name}, leg {}, {time} s: {over}", outcome.leg);
                places.push(at);
                checked += 1;
            }
            let apart = |a: &Vec3| places.iter().map(|b| a.distance(*b)).fold(0.0, f32::max);
            let most = places.iter().map(apart).fold(0.0, f32::max);
            assert!(most < 4.5e-3, "{name}, leg {}, {:?}: {most}", outcome.leg, outcome.time);
        }
        // Heels lift where ankles end, up a slope of 20 degrees for most of the time.
        let heels = if name == "slope up" { 0.3 } else { 0.8 };
        let enough = claimed[0] > heels * contact[0] && claimed[1] > 0.9 * contact[1];
        assert!(checked > 100 && enough, "{name}: {checked}, {claimed:?} of {contact:?} s");
        assert!(planted.out_of_reach < 0.05, "{name}: {}", planted.out_of_reach);
    }
}

#[test]
fn a_foot_goes_up_stairs_without_being_thrown_up() {
    let walk = walk();
    for (rise, going) in [(0.12, 0.40), (0.17, 0.29)] {
        let stairs = Stairs::new().with_rise(rise).with_going(going).with_lead(0.7);
        let (plan, planted) = plant(&walk, stairs.mesh().unwrap());
        let mut pose = walk.rest.clone();
        for (joints, curve) in walk.figure.legs().iter().zip(&plan.analysis.feet) {
            let own = curve.heel_heights.iter().zip(&curve.ball_heights).map(|(h, b)| h.min(*b));
            let own = own.fold(0.0, f32::max);
            let mut most = 0.0f32;
            for &time in &planted.times {
                planted.clip.sample(time, &mut pose);
                pose.update();
                let over = [joints.sole.heel, joints.sole.ball].map(|p| {
                    let at = pose.model(joints.foot).transform_point3(p);
                    at.y - stairs.height(at.x, at.z).unwrap()
                });
                most = most.max(over[0].min(over[1]));
            }
            // What the clip lifts, the riser that comes next, and no more than once again. It was four risers and a half.
            assert!((rise..2.0 * rise + own).contains(&most), "{rise} m: {most}, in the clip {own}");
        }
    }
}

#[test]
fn a_foot_lands_on_its_forefoot_on_lower_treads_alone() {
    let walk = walk();
    let (mut forefoot, mut heel_first) = (0, 0);
    let stairs = Stairs::new().with_rise(0.17).with_going(0.29).with_steps(20).with_lead(0.7);
    let down = stairs.with_flight(Flight::Down);
    let low = stairs.with_rise(0.025).with_flight(Flight::Down);
    let slope = Slope::new().with_angle(-20f32.to_radians()).with_length(8.0).with_lead(0.7);
    let grounds: [(&str, TriangleMesh, Height); 4] = [
        ("up", stairs.mesh().unwrap(), Box::new(move |x, z| stairs.height(x, z))),
        ("down", down.mesh().unwrap(), Box::new(move |x, z| down.height(x, z))),
        ("low steps down", low.mesh().unwrap(), Box::new(move |x, z| low.height(x, z))),
        ("slope down", slope.mesh().unwrap(), Box::new(move |x, z| slope.height(x, z))),
    ];
    for (name, mesh, height) in grounds {
        let (plan, planted) = plant(&walk, mesh);
        let mut pose = walk.rest.clone();
        let mut all: Vec<_> =
            (0..2).flat_map(|leg| plan.stances[leg].iter().map(move |p| (leg, p))).collect();
        all.sort_by(|a, b| a.1.stance.time.from.total_cmp(&b.1.stance.time.from));
        for pair in all.windows(2) {
            let [(_, last), (leg, next)] = pair else { unreachable!() };
            let [before, after] = [last, next].map(|p| p.foothold.unwrap().ball.y);
            let (heel, ball) = (next.stance.heel[0].from, next.stance.ball[0].from);
            let highest = next.foothold.map(|f| f.heel.y.max(f.ball.y)).unwrap() + 0.02;
            // Times at which heel and ball come down, and the pitch of the sole at the first, by the written clip.
            let joints = &walk.figure.legs()[*leg];
            let mut downs = [None; 2];
            let mut pitch = None;
            for &time in planted.times.iter().filter(|t| (heel - 0.2..ball + 0.1).contains(*t)) {
                planted.clip.sample(time, &mut pose);
                pose.update();
                let [heel, ball] =
                    [joints.sole.heel, joints.sole.ball].map(|p| pose.model(joints.foot).transform_point3(p));
                for (down, at) in downs.iter_mut().zip([heel, ball]) {
                    // Not on the tread above.
                    if at.y - height(at.x, at.z).unwrap() < 0.004 && at.y < highest {
                        down.get_or_insert(time);
                        pitch.get_or_insert(
                            (ball.y - heel.y).atan2((ball - heel).with_y(0.0).length()).to_degrees(),
                        );
                    }
                }
            }
            let [heel_down, ball_down] = downs.map(|d| d.unwrap_or(f32::INFINITY));
            let label = format!("{name}, leg {leg}, {heel} s: heel {heel_down}, ball {ball_down}, {pitch:?}");
            if name == "down" && before - after > 0.15 {
                assert!(heel_down - ball_down > 0.03 && pitch.unwrap() < -10.0, "{label}");
                forefoot += 1;
            } else if heel < ball {
                assert!(heel_down <= ball_down, "{label}");
                heel_first += 1;
            }
        }
    }
    assert!(forefoot >= 4 && heel_first >= 12, "{forefoot}, {heel_first}");
}

#[test]
fn hips_accelerate_within_the_range_of_people() {
    let walk = walk();
    let Walk { figure, rest, clip, .. } = &walk;
    let stairs = Stairs::new().with_rise(0.17).with_going(0.29).with_steps(30).with_lead(0.7);
    for (flight, stride) in
        [(Flight::Up, Stride::Keep), (Flight::Down, Stride::Keep), (Flight::Down, Stride::Treads(2))]
    {
        let ground = MeshGround::new(stairs.with_flight(flight).mesh().unwrap()).unwrap();
        let mut options = ClipOptions::default();
        options.stride = Some(stride);
        let Planting { planted, plan, .. } = plant_clip(figure, rest, clip, &ground, &options).unwrap();
        // Heights of the hips over 1/30 s, by the written clip.
        let mut pose = rest.clone();
        let mut height = |time: f32| {
            planted.clip.sample(time, &mut pose);
            pose.update();
            figure.legs().iter().map(|leg| 0.5 * pose.position(leg.thigh).y).sum::<f32>()
        };
        let (from, to) = (planted.times[0], planted.times[planted.times.len() - 1]);
        let apart = 1.0 / 30.0;
        let mut most = 0.0f32;
        let mut time = from + apart;
        while time + apart < to {
            let change = height(time - apart) - 2.0 * height(time) + height(time + apart);
            most = most.max((change / (apart * apart)).abs());
            time += 1.0 / 120.0;
        }
        let steps = plan.stances.iter().flatten().filter(|p| p.foothold.is_ok()).count();
        assert!(steps >= 8, "{flight:?}, {stride:?}: {steps}");
        // 12 m/s2 for a leg of 0.93 m, and a twentieth, as the range is soft. Without its term: 13.7, 25.8 and 20.1 m/s2 at the keys.
        let bound = 1.05 * 12.0 * figure.leg_length() / 0.93;
        assert!(most < bound, "{flight:?}, {stride:?}: {most} m/s2, at most {bound}");
    }
}

#[test]
fn feet_pass_over_steps_and_not_beside_them() {
    let walk = walk();
    let Walk { figure, rest, clip, .. } = &walk;
    let stairs = Stairs::new().with_rise(0.18).with_going(0.285).with_steps(30).with_lead(0.7);
    for flight in [Flight::Up, Flight::Down] {
        for stride in [Stride::Keep, Stride::Treads(1)] {
            let ground = MeshGround::new(stairs.with_flight(flight).mesh().unwrap()).unwrap();
            let mut options = ClipOptions::default();
            options.stride = Some(stride);
            let Planting { planted, plan, .. } = plant_clip(figure, rest, clip, &ground, &options).unwrap();
            let mut pose = rest.clone();
            let mut highest = f32::NEG_INFINITY;
            for &time in &planted.times {
                planted.clip.sample(time, &mut pose);
                pose.update();
                let sample = (time / plan.analysis.step).round() as usize;
                for (leg, curve) in figure.legs().iter().zip(&plan.analysis.feet) {
                    // The walk goes along +Z. Legs swung out by 35 cm.
                    let (at, own) = (pose.position(leg.foot), curve.samples[sample].ankle);
                    let aside = (at.x - own.x).abs();
                    assert!(aside < 0.05, "{flight:?}, {stride:?}, {time} s: {aside} m");
                    highest = highest.max((at.y - own.y).abs());
                }
            }
            assert!(highest > 0.5, "{flight:?}, {stride:?}: {highest}");
        }
    }
}

#[test]
fn offsets_stay_and_only_the_legs_and_the_hips_move() {
    let walk = walk();
    let (_, mesh, _) = grounds().swap_remove(0);
    let (plan, planted) = plant(&walk, mesh);
    let (mut before, mut after) = (walk.rest.clone(), walk.rest.clone());
    let legs = walk.figure.legs();
    let moved = |j: JointId| {
        walk.skeleton.name(j) == "hips"
            || legs.iter().any(|l| [l.thigh, l.shin, l.foot].contains(&j) || l.toes == Some(j))
    };
    for (key, &time) in planted.times.iter().enumerate() {
        walk.clip.sample(plan.analysis.clip_time(key * plan.per_key), &mut before);
        planted.clip.sample(time, &mut after);
        for joint in walk.skeleton.joints() {
            let (b, a) = (before.local(joint), after.local(joint));
            assert_eq!(b.scale, a.scale);
            if !moved(joint) {
                let turn = sinew::math::angle_between(b.rotation, a.rotation);
                assert!(turn < 1e-3, "{} at {time} s turned by {turn}", walk.skeleton.name(joint));
            }
            if walk.skeleton.name(joint) != "hips" {
                assert!((b.translation - a.translation).length() < 1e-6, "{}", walk.skeleton.name(joint));
            }
        }
    }
}

#[test]
fn a_trunk_leans_up_stairs_under_a_head_that_looks_ahead() {
    let model = sample::mannequin().unwrap();
    let (rest, bind) = (Pose::rest(&model.skeleton), model.bind_pose());
    let body = BodyRoles::find(&bind, &model.declared_roles).unwrap();
    let figure = Figure::of_body(&bind, &body, &model.skin_points(&bind)).unwrap();
    let walk = Walk { figure, rest, skeleton: model.skeleton.clone(), clip: model.clips[0].clone() };
    let joint = |name: &str| walk.skeleton.find(name).unwrap();
    let [hips, spine, neck, head] = ["hips", "spine", "neck", "head"].map(joint);
    let arms = ["upper_arm.L", "upper_arm.R"].map(joint);
    let stairs = Stairs::new().with_rise(0.17).with_going(0.29).with_steps(20).with_lead(0.7);
    let down = stairs.with_flight(Flight::Down);
    let (plan, planted) = plant(&walk, stairs.mesh().unwrap());
    let (mut before, mut after) = (walk.rest.clone(), walk.rest.clone());
    let lean = |pose: &Pose| {
        let trunk = pose.position(neck) - pose.position(hips);
        trunk.z.atan2(trunk.y).to_degrees()
    };
    let (mut sum, mut count) = (0.0, 0.0);
    for (key, &time) in planted.times.iter().enumerate() {
        walk.clip.sample(plan.analysis.clip_time(key * plan.per_key), &mut before);
        planted.clip.sample(time, &mut after);
        before.update();
        after.update();
        for kept in [head, arms[0], arms[1]] {
            let turn = sinew::math::angle_between(before.model_rotation(kept), after.model_rotation(kept));
            assert!(turn < 1e-3, "{} at {time} s turned by {turn}", walk.skeleton.name(kept));
        }
        if plan.lean[key * plan.per_key] > 0.1 {
            sum += lean(&after) - lean(&before);
            count += 1.0;
        }
    }
    assert!(count > 60.0 && (5.0..14.0).contains(&(sum / count)), "{} degrees at {count} keys", sum / count);
    // Neither down nor on a level floor does it move.
    for mesh in [down.mesh().unwrap(), Slope::new().with_angle(0.0).with_length(9.0).mesh().unwrap()] {
        let (plan, planted) = plant(&walk, mesh);
        assert!(plan.lean.iter().all(|angle| *angle == 0.0));
        for (key, &time) in planted.times.iter().enumerate() {
            walk.clip.sample(plan.analysis.clip_time(key * plan.per_key), &mut before);
            planted.clip.sample(time, &mut after);
            for joint in [spine, head, arms[0], arms[1]] {
                assert_eq!(before.local(joint), after.local(joint), "{time} s");
            }
        }
    }
    // A figure without influence keeps its trunk too.
    let mut free = walk;
    free.figure.legs_mut().iter_mut().for_each(|leg| leg.influence = 0.0);
    let (plan, planted) = plant(&free, stairs.mesh().unwrap());
    assert!(plan.lean.iter().any(|angle| *angle > 0.1));
    for (key, &time) in planted.times.iter().enumerate() {
        free.clip.sample(plan.analysis.clip_time(key * plan.per_key), &mut before);
        planted.clip.sample(time, &mut after);
        for joint in free.skeleton.joints().filter(|j| *j != hips) {
            assert_eq!(before.local(joint), after.local(joint), "{} at {time} s", free.skeleton.name(joint));
        }
    }
}

#[test]
fn the_report_says_where_joints_go_furthest() {
    let walk = walk();
    let Walk { figure, rest, clip, .. } = &walk;
    let stairs = Stairs::new().with_rise(0.17).with_going(0.29).with_lead(0.7);
    let ground = MeshGround::new(stairs.mesh().unwrap()).unwrap();
    let Planting { planted, report, .. } =
        plant_clip(figure, rest, clip, &ground, &ClipOptions::default()).unwrap();
    assert_eq!(planted.clip.name(), "walk (planted)");
    let mut pose = rest.clone();
    // The largest bend of an ankle and its time, and heights of the hips.
    let (mut bend, mut at, mut heights) = (-2.0f32, 0.0, Vec::new());
    for &time in &planted.times {
        planted.clip.sample(time, &mut pose);
        pose.update();
        let mut height = 0.0;
        for leg in figure.legs() {
            let [heel, ball] =
                [leg.sole.heel, leg.sole.ball].map(|p| pose.model(leg.foot).transform_point3(p));
            let shin = pose.position(leg.shin) - pose.position(leg.foot);
            let angle = std::f32::consts::FRAC_PI_2 - shin.angle_between(ball - heel);
            if angle > bend {
                (bend, at) = (angle, time);
            }
            height += 0.5 * pose.position(leg.thigh).y;
        }
        heights.push(height);
    }
    let found = report.after.dorsiflexion;
    assert!((found.value - bend).abs() < 1e-4 && found.time == at, "{found:?}, not {bend} at {at} s");
    // A key is 1/30 s.
    let step = planted.times[1];
    let most = heights.windows(3).map(|w| ((w[0] + w[2] - 2.0 * w[1]) / (step * step)).abs());
    let most = most.fold(0.0, f32::max);
    let found = report.after.hips_acceleration;
    assert!((found.value - most).abs() < 0.01 * most && found.leg.is_none(), "{found:?}, not {most}");

    let mut few = ClipOptions::default();
    few.max_keys = 100;
    let refused = plant_clip(figure, rest, clip, &ground, &few).unwrap_err();
    assert!(matches!(refused, PlantError::Keys { max: 100, .. }), "{refused}");
}

#[test]
fn the_same_clip_gives_the_same_bits() {
    let walk = walk();
    let (_, mesh, _) = grounds().swap_remove(4);
    assert_eq!(plant(&walk, mesh.clone()).1.clip, plant(&walk, mesh).1.clip);
}

#[test]
fn a_frame_allocates_nothing() {
    let walk = walk();
    let (_, mesh, _) = grounds().swap_remove(0);
    let (plan, _) = plant(&walk, mesh);
    let mut pose = walk.rest.clone();
    let mut frames: Vec<FootFrame> = Vec::with_capacity(2);
    let counted = measure(|| {
        for key in 0..plan.keys() {
            plan.after(&walk.figure, &walk.clip, key, &mut pose, &mut frames).unwrap();
        }
    });
    assert_eq!(counted.count_total, 0);
}

/// Ground that no cast may ask for.
struct Forbidden;

impl Ground for Forbidden {
    fn cast_ray(&self, _: Vec3, _: Vec3, _: f32, _: &Filter) -> Option<Hit> {
        panic!("a cast with invalid settings")
    }
}

#[test]
fn settings_are_checked_before_a_stride_is_fitted() {
    let walk = walk();
    let mut options = ClipOptions::default();
    options.stride = Some(Stride::Fit);
    options.planting = PlantOptions::new().with_cast_below(f32::NAN);
    let error = plant_clip(&walk.figure, &walk.rest, &walk.clip, &Forbidden, &options).unwrap_err();
    assert!(matches!(error, PlantError::Plan(PlanError::Setting(_))), "{error}");
    assert!(error.to_string().contains("cast_below"), "{error}");
}

#[test]
fn a_still_clip_that_moves_few_joints_stands_still() {
    let Walk { skeleton, rest, figure, .. } = walk();
    let root = skeleton.joint_at(0).unwrap();
    let at = skeleton.rest(root).translation;
    let still = Track::new(vec![0.0, 1.0], vec![at; 2], Interpolation::Linear).unwrap();
    let tracks = vec![JointTracks { translation: Some(still), ..JointTracks::new(root) }];
    let clip = Clip::new("still", &skeleton, tracks).unwrap();
    for (name, mesh, _) in grounds() {
        let ground = MeshGround::new(mesh).unwrap();
        let made = plant_clip(&figure, &rest, &clip, &ground, &ClipOptions::default()).unwrap();
        assert!(made.report.planted_share() > 0.95, "{name}: {}", made.report.planted_share());
        let mut poses = [rest.clone(), rest.clone()];
        for (pose, time) in poses.iter_mut().zip([0.0, 1.0]) {
            made.planted.clip.sample(time, pose);
            pose.update();
        }
        for joint in skeleton.joints() {
            let [a, b] = poses.each_ref().map(|pose| pose.position(joint));
            assert!(a.distance(b) < 1e-4, "{name}: {} goes from {a} to {b}", skeleton.name(joint));
        }
    }
}
