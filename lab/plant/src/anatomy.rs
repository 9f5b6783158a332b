//! Angles of hips, knees, ankles and toes as anatomy measures them, and points of the body, from joints by name.
//!
//! All angles are in radians and are 0 where a person stands upright. The figure's rest pose tells up, forward and the sole.
//! - Dorsiflexion: a right angle less that from shin (towards the knee) to sole (heel to ball). Beyond a right angle, where
//!   the sole's upper side turns away from the knee, it continues to 180 degrees.
//! - Knee flexion: the angle from thigh to shin. It is negative where the knee is bent against the clip's hinge, and continues
//!   beyond 180 degrees where the shin is folded through the thigh.
//! - Hip: flexion and abduction of the line from hip to knee against the axes of the hips, and the thigh's turn about its
//!   length, from the rest pose by the shortest way.
//! - Toes: turn of the toe joint against the foot about the foot's cross axis, from the rest pose; up is positive.

use crate::{
    figure::Figure,
    maths::{Affine, V3, angle, v3},
    scene::Scene,
};

/// Where a figure's joints and soles are, in the spaces of its joints.
pub struct Anatomy {
    hips: usize,
    neck: usize,
    /// Up, forward and left of the rest pose in the space of the hips' joint.
    axes: [V3; 3],
    legs: [Limb; 2],
}

struct Limb {
    joints: [usize; 3],
    toe: Option<usize>,
    /// Heel and ball in the foot's space, the tip in the toes' (the foot's, without toes).
    points: [V3; 3],
    /// Up and forward of the sole in the foot's space.
    sole: [V3; 2],
    /// Forward of the sole in the toes' space.
    toes_forward: V3,
    /// The thigh's direction at rest, by the axes of the hips.
    thigh: V3,
    /// A direction across the thigh: in the thigh's space, and at rest by the axes of the hips.
    across: [V3; 2],
    /// The axis about which the clip bends the knee, in the thigh's space; nought where it never does.
    hinge: V3,
    /// 1 for the left leg, -1 for the right one.
    outwards: f64,
}

/// A leg at a time: points in world space in metres, angles in radians.
#[derive(Clone, Copy, Debug, Default)]
pub struct Leg {
    /// The thigh's joint.
    pub hip: V3,
    /// The shin's joint.
    pub knee: V3,
    /// The foot's joint.
    pub ankle: V3,
    /// Where the sole meets the floor under the heel.
    pub heel: V3,
    /// The same under the ball.
    pub ball: V3,
    /// The foremost point of the sole.
    pub tip: V3,
    /// Turn of the sole up from a right angle to the shin.
    pub dorsiflexion: f64,
    /// Bend of the knee.
    pub flexion: f64,
    /// Flexion, abduction and turn about its length of the thigh against the hips.
    pub thigh: [f64; 3],
    /// Turn of the toes up; 0 without a toe joint.
    pub toes: f64,
}

impl Leg {
    /// Direction from heel to ball.
    pub fn sole(&self) -> V3 {
        (self.ball - self.heel).unit().unwrap_or_default()
    }

    /// The part of the knee's place that lies across the line from hip to ankle, and that line's direction.
    pub fn knee_across(&self) -> (V3, V3) {
        let line = (self.ankle - self.hip).unit().unwrap_or_default();
        let out = self.knee - self.hip;
        (out - line * out.dot(line), line)
    }
}

/// A figure at a time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Body {
    /// Left and right.
    pub legs: [Leg; 2],
    /// The middle of the hip joints.
    pub hips: V3,
    /// Up, forward and left of the hips.
    pub axes: [V3; 3],
    /// The neck.
    pub neck: V3,
}

impl Body {
    /// Forward without height.
    pub fn forward(&self) -> V3 {
        self.axes[1].flat().unit().unwrap_or_default()
    }

    /// Lean of the trunk from the vertical, forwards along a level direction.
    pub fn lean(&self, forward: V3) -> f64 {
        let trunk = self.neck - self.hips;
        trunk.dot(forward).atan2(trunk.y)
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        let finite = |p: V3| (p.x + p.y + p.z).is_finite();
        let leg = |l: &Leg| {
            [l.hip, l.knee, l.ankle, l.heel, l.ball, l.tip].into_iter().all(finite)
                && (l.dorsiflexion + l.flexion + l.toes + l.thigh.iter().sum::<f64>()).is_finite()
        };
        self.legs.iter().all(leg) && finite(self.neck)
    }
}

impl Anatomy {
    /// Reads a figure's rest pose. `neck` is a node.
    pub fn new(scene: &Scene, figure: &Figure, neck: usize) -> Result<Self, String> {
        let worlds = scene.worlds(&scene.rest);
        let into = |n: usize, v: V3| worlds[n].inverse().vector(v);
        let [left, right] = &figure.legs;
        let hips = std::iter::successors(scene.parents[left.joints[0]], |n| scene.parents[*n])
            .take(worlds.len())
            .find(|n| scene.below(right.joints[0], *n))
            .ok_or("legs that hang on no common joint")?;
        let up = v3(0.0, 1.0, 0.0);
        let at = |n: usize| worlds[n].translation;
        let aside = (at(left.joints[0]) - at(right.joints[0])).flat();
        let aside = aside.unit().ok_or("hips of no width")?;
        let forward = aside.cross(up);
        let axes = [up, forward, aside];
        let by_axes = |v: V3| v3(v.dot(axes[0]), v.dot(axes[1]), v.dot(axes[2]));
        let limb = |leg: &crate::figure::Leg, outwards: f64| {
            let [hip, knee, foot] = leg.joints;
            let sole = (worlds[foot].point(leg.ball) - worlds[foot].point(leg.heel)).unit();
            let sole = sole.ok_or("a sole of no length")?;
            let normal = (up - sole * up.dot(sole)).unit().ok_or("an upright sole")?;
            let thigh = (at(knee) - at(hip)).unit().ok_or("a thigh of no length")?;
            let across =
                (forward - thigh * forward.dot(thigh)).unit().ok_or("a thigh that points forward")?;
            Ok::<_, String>(Limb {
                joints: leg.joints,
                toe: leg.toe,
                points: [leg.heel, leg.ball, leg.tip],
                sole: [into(foot, normal), into(foot, sole)],
                toes_forward: into(leg.toe.unwrap_or(foot), sole),
                thigh: by_axes(thigh),
                across: [into(hip, across), by_axes(across)],
                hinge: V3::ZERO,
                outwards,
            })
        };
        Ok(Self {
            hips,
            neck,
            axes: axes.map(|a| into(hips, a)),
            legs: [limb(left, 1.0)?, limb(right, -1.0)?],
        })
    }

    /// Finds the knees' hinges in the poses of a clip, from those that are bent by more than 10 degrees.
    pub fn find_hinges(&mut self, poses: &[Vec<Affine>]) {
        for limb in &mut self.legs {
            let [hip, knee, foot] = limb.joints;
            let mut sum = V3::ZERO;
            for worlds in poses {
                let at = |n: usize| worlds[n].translation;
                let (thigh, shin) = (at(knee) - at(hip), at(foot) - at(knee));
                if angle(thigh, shin) > 10_f64.to_radians() {
                    let axis = thigh.cross(shin).unit().unwrap_or_default();
                    sum = sum + worlds[hip].inverse().vector(axis);
                }
            }
            limb.hinge = sum;
        }
    }

    /// The body in a pose, moved.
    pub fn body(&self, worlds: &[Affine], moved: V3) -> Body {
        let along = |n: usize, v: V3| worlds[n].vector(v).unit().unwrap_or_default();
        let axes = self.axes.map(|a| along(self.hips, a));
        let legs = [0, 1].map(|i| self.legs[i].leg(worlds, moved, axes));
        Body {
            legs,
            hips: legs[0].hip.lerp(legs[1].hip, 0.5),
            axes,
            neck: worlds[self.neck].translation + moved,
        }
    }
}

impl Limb {
    fn leg(&self, worlds: &[Affine], moved: V3, axes: [V3; 3]) -> Leg {
        let [hip, knee, foot] = self.joints;
        let toe = self.toe.unwrap_or(foot);
        let at = |n: usize| worlds[n].translation + moved;
        let along = |n: usize, v: V3| worlds[n].vector(v).unit().unwrap_or_default();
        let point = |n: usize, p: V3| worlds[n].point(p) + moved;
        let [heel, ball, tip] = self.points;
        let (thigh, shin) = (at(knee) - at(hip), at(foot) - at(knee));
        let (heel, ball) = (point(foot, heel), point(foot, ball));
        let [normal, sole] = self.sole.map(|v| along(foot, v));
        Leg {
            hip: at(hip),
            knee: at(knee),
            ankle: at(foot),
            heel,
            ball,
            tip: point(toe, tip),
            dorsiflexion: dorsiflexion(-shin, ball - heel, normal),
            flexion: flexion(thigh, shin, along(hip, self.hinge)),
            thigh: self.thigh_angles(thigh.unit().unwrap_or_default(), along(hip, self.across[0]), axes),
            toes: turn_up(along(toe, self.toes_forward), sole, normal),
        }
    }

    /// Flexion, abduction and turn of a thigh, from its direction and the direction across it in world space.
    fn thigh_angles(&self, thigh: V3, across: V3, [up, forward, left]: [V3; 3]) -> [f64; 3] {
        let by_axes = |v: V3| v3(v.dot(up), v.dot(forward), v.dot(left));
        let (d, across) = (by_axes(thigh), by_axes(across));
        let untwisted = carried(self.across[1], self.thigh, d);
        let turn = across.dot(d.cross(untwisted)).atan2(across.dot(untwisted));
        [d.y.atan2(-d.x), (self.outwards * d.z).clamp(-1.0, 1.0).asin(), turn]
    }
}

/// Angle from thigh to shin; negative to a right angle against the hinge, and more than 180 degrees beyond that.
fn flexion(thigh: V3, shin: V3, hinge: V3) -> f64 {
    let bend = angle(thigh, shin);
    match thigh.cross(shin).dot(hinge) < 0.0 {
        true if bend > std::f64::consts::FRAC_PI_2 => std::f64::consts::TAU - bend,
        true => -bend,
        false => bend,
    }
}

/// A right angle less the angle from the shin (from ankle to knee) to the sole, continued beyond a right angle.
fn dorsiflexion(shin: V3, sole: V3, normal: V3) -> f64 {
    let turn = std::f64::consts::FRAC_PI_2 - angle(shin, sole);
    if shin.dot(normal) >= 0.0 { turn } else { std::f64::consts::PI.copysign(turn) - turn }
}

/// Angle of a direction over another one, towards a normal of that.
fn turn_up(direction: V3, along: V3, normal: V3) -> f64 {
    direction.dot(normal).atan2(direction.dot(along))
}

/// A vector carried by the shortest turn of one unit vector to another (`v` itself, where they are opposite).
pub fn carried(v: V3, from: V3, to: V3) -> V3 {
    let w = from.cross(to);
    let k = 1.0 + from.dot(to);
    if k < 1e-9 { v } else { v + w.cross(v) + w.cross(w.cross(v)) * (1.0 / k) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deg(a: f64) -> f64 {
        a.to_degrees()
    }

    /// A direction in the plane of Y and Z, `a` degrees up from Z.
    fn at(a: f64) -> V3 {
        let (s, c) = a.to_radians().sin_cos();
        v3(0.0, s, c)
    }

    #[test]
    fn dorsiflexion_of_known_soles() {
        // The shin is upright; the sole is turned up by so much.
        for a in [-60.0, -20.0, 0.0, 25.0, 34.0, 90.0, 116.0, 150.0] {
            let found = deg(dorsiflexion(v3(0.0, 1.0, 0.0), at(a), at(a + 90.0)));
            assert!((found - a).abs() < 1e-9, "{a}: {found}");
        }
        // A shin that leans forwards by 10 degrees over a level sole.
        assert!((deg(dorsiflexion(at(80.0), at(0.0), at(90.0))) - 10.0).abs() < 1e-9);
        // A sole that is rolled about its own length keeps its angle.
        let rolled = v3(0.6, 0.8, 0.0);
        assert!(deg(dorsiflexion(v3(0.0, 1.0, 0.0), at(0.0), rolled)).abs() < 1e-9);
    }

    #[test]
    fn knees_bend_forwards_backwards_and_through_the_thigh() {
        for a in [-40.0, 0.0, 5.0, 109.0, 170.0, 190.0] {
            let found = deg(flexion(at(-90.0), at(-90.0 - a), v3(1.0, 0.0, 0.0)));
            assert!((found - a).abs() < 1e-9, "{a}: {found}");
        }
    }

    #[test]
    fn a_carried_vector_turns_with_the_shortest_turn() {
        let turned = carried(at(90.0), at(0.0), at(50.0));
        assert!(turned.apart(at(140.0)) < 1e-12);
        // What is parallel to the turn's axis stays.
        assert!(carried(v3(1.0, 0.0, 0.0), at(0.0), at(50.0)).apart(v3(1.0, 0.0, 0.0)) < 1e-12);
    }

    #[test]
    fn angles_of_a_thigh() {
        let down = v3(-1.0, 0.0, 0.0);
        let limb = Limb {
            joints: [0; 3],
            toe: None,
            points: [V3::ZERO; 3],
            sole: [V3::ZERO; 2],
            toes_forward: V3::ZERO,
            thigh: down,
            across: [V3::ZERO, v3(0.0, 1.0, 0.0)],
            hinge: V3::ZERO,
            outwards: -1.0,
        };
        let axes = [v3(0.0, 1.0, 0.0), v3(0.0, 0.0, 1.0), v3(1.0, 0.0, 0.0)];
        // Flexed by 50 degrees, with a turn of 20 about its length.
        let thigh = at(-40.0);
        let across = carried(at(0.0), at(-90.0), thigh);
        let turned = across * 20_f64.to_radians().cos() + thigh.cross(across) * 20_f64.to_radians().sin();
        let found = limb.thigh_angles(thigh, turned, axes).map(deg);
        assert!(
            (found[0] - 50.0).abs() < 1e-9 && found[1].abs() < 1e-9 && (found[2] - 20.0).abs() < 1e-9,
            "{found:?}"
        );
        // The right thigh 30 degrees to the right: abducted.
        let (s, c) = 30_f64.to_radians().sin_cos();
        let found = limb.thigh_angles(v3(-s, -c, 0.0), at(0.0), axes).map(deg);
        assert!(found[0].abs() < 1e-9 && (found[1] - 30.0).abs() < 1e-9 && found[2].abs() < 1e-9);
    }
}
