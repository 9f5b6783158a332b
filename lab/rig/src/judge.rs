//! Judges limbs that were solved anew for clips that were baked from a rig: forward kinematics in f64, on nodes read with the
//! crate `gltf`, without any code of the engine.

use std::path::Path;

use plant::{
    maths::{Affine, V3},
    scene::{Clip, Local, Scene},
};

/// Greatest share of its reach at which a limb is judged. Beyond it the flexion, and with it the bend plane, rest on the last
/// digits of the goal.
const REACH: f64 = 0.999;
/// Greatest angle in degrees between a bone and the file's, roll included.
pub const BONE: f64 = 0.1;
/// Greatest distance in millimetres between the end of a limb and the file's.
pub const END: f64 = 0.2;

/// Nodes of a limb and of its two controls.
#[derive(Clone, Debug)]
pub struct Limb {
    /// Name of the root.
    pub name: String,
    /// Root, middle and tip.
    joints: [usize; 3],
    /// The node that the tip follows.
    goal: usize,
}

/// A file, its limbs, and the poses of its clips.
pub struct Judge {
    scene: Scene,
    limbs: Vec<Limb>,
}

/// Errors of a number of limbs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Errors {
    /// Number of limbs.
    pub limbs: usize,
    /// Those of them that are within both bounds.
    pub held: usize,
    /// Largest angle of a bone, or of the tip's joint, in degrees, roll included.
    pub bone: f64,
    /// Largest distance of an end in millimetres.
    pub end: f64,
}

impl Errors {
    /// Of both.
    pub fn and(self, other: Self) -> Self {
        Self {
            limbs: self.limbs + other.limbs,
            held: self.held + other.held,
            bone: larger(self.bone, other.bone),
            end: larger(self.end, other.end),
        }
    }
}

/// Errors of limbs within reach, which are judged, and of those beyond.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Goals within [`REACH`] of the reach.
    pub within: Errors,
    /// Goals beyond.
    pub beyond: Errors,
}

impl Tally {
    /// Of both.
    pub fn and(self, other: Self) -> Self {
        Self { within: self.within.and(other.within), beyond: self.beyond.and(other.beyond) }
    }
}

/// The larger number; what is no number is larger than any.
pub fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

impl Judge {
    /// Reads a file, and finds limbs by the names of their root, middle, tip and goal.
    pub fn read<'a>(path: &Path, limbs: impl IntoIterator<Item = [&'a str; 4]>) -> Result<Self, String> {
        let scene = Scene::read(path)?;
        let node = |name: &str| {
            let mut all = (0..scene.names.len()).filter(|i| scene.names[*i] == name);
            match (all.next(), all.next()) {
                (Some(i), None) => Ok(i),
                (None, _) => Err(format!("{}: no node `{name}`", path.display())),
                _ => Err(format!("{}: several nodes `{name}`", path.display())),
            }
        };
        let limbs = limbs
            .into_iter()
            .map(|[root, middle, tip, goal]| {
                let joints = [node(root)?, node(middle)?, node(tip)?];
                Ok(Limb { name: root.into(), joints, goal: node(goal)? })
            })
            .collect::<Result<_, String>>()?;
        Ok(Self { scene, limbs })
    }

    /// The limbs, in the given order.
    pub fn limbs(&self) -> &[Limb] {
        &self.limbs
    }

    /// Names of the nodes, in the order of the poses.
    pub fn nodes(&self) -> &[String] {
        &self.scene.names
    }

    /// The file's clips.
    pub fn clips(&self) -> &[Clip] {
        &self.scene.clips
    }

    /// The times of a clip's keys, in seconds: those of any channel.
    pub fn keys(clip: &Clip) -> Vec<f64> {
        let mut times: Vec<f64> = clip.channels.iter().flat_map(|c| c.times.iter().copied()).collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        times
    }

    /// Compares a pose, as local transforms of the nodes, with that of the file at a time. One tally for each limb.
    pub fn compare(&self, clip: &Clip, time: f64, solved: &[Local]) -> Vec<Tally> {
        let file = self.scene.worlds(&self.scene.sample(clip, time));
        let solved = self.scene.worlds(solved);
        self.limbs.iter().map(|limb| limb.compare(&file, &solved)).collect()
    }
}

impl Limb {
    fn compare(&self, file: &[Affine], solved: &[Affine]) -> Tally {
        let [root, middle, tip] = self.joints.map(|n| file[n].translation);
        let reach = (middle - root).length() + (tip - middle).length();
        let wanted = (file[self.goal].translation - root).length();
        let bone = self.joints.iter().map(|n| turn(&file[*n], &solved[*n]).to_degrees()).fold(0.0, larger);
        let end = (solved[self.joints[2]].translation - tip).length() * 1e3;
        let errors = Errors { limbs: 1, held: usize::from(bone <= BONE && end <= END), bone, end };
        if wanted <= REACH * reach {
            Tally { within: errors, ..Tally::default() }
        } else {
            Tally { beyond: errors, ..Tally::default() }
        }
    }
}

/// Angle in radians of the turn from one frame to another, whose scales do not count.
pub fn turn(a: &Affine, b: &Affine) -> f64 {
    let axes = |m: &Affine| m.columns.map(|c| c * (1.0 / c.length()));
    let (a, b) = (axes(a), axes(b));
    // In the frame of `a`, the columns of the turn are the axes of `b`: its antisymmetric part is the sine, its trace tells
    // the cosine.
    let at = |i: usize, j: usize| a[i].dot(b[j]);
    let sine = V3 { x: at(2, 1) - at(1, 2), y: at(0, 2) - at(2, 0), z: at(1, 0) - at(0, 1) }.length();
    sine.atan2(at(0, 0) + at(1, 1) + at(2, 2) - 1.0)
}

/// Frames of joints in model space, parents before children.
pub fn worlds(parents: &[Option<usize>], locals: &[Local]) -> Vec<Affine> {
    let mut all: Vec<Affine> = Vec::with_capacity(locals.len());
    for (parent, local) in parents.iter().zip(locals) {
        let local = local.affine();
        all.push(parent.map_or(local, |p| all[p].after(&local)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use plant::maths::v3;

    fn frame(axis: V3, angle: f64) -> Affine {
        let v = axis * (0.5 * angle).sin();
        Affine::trs(v3(0.1, 0.2, 0.3), [v.x, v.y, v.z, (0.5 * angle).cos()], v3(2.0, 2.0, 2.0))
    }

    #[test]
    fn turns_of_known_angles() {
        let axis = v3(2.0, -1.0, 2.0) * (1.0 / 3.0);
        for angle in [0.0, 1e-9, 1e-3, 1.0, 2.0, 3.1] {
            let found = turn(&frame(axis, 0.4), &frame(axis, 0.4 + angle));
            assert!((found - angle).abs() < 1e-12, "{angle}: {found}");
        }
    }

    /// A limb of two bones of 1 m, bent by a right angle; `roll` turns the lower bone about itself.
    fn limb(roll: f64) -> Vec<Affine> {
        let at = |place: V3, turn: f64| Affine { translation: place, ..frame(v3(0.0, 1.0, 0.0), turn) };
        let end = v3(1.0, 1.0, 0.0);
        vec![at(V3::ZERO, 0.0), at(v3(1.0, 0.0, 0.0), roll), at(end, 0.0), at(end, 0.0)]
    }

    #[test]
    fn a_roll_and_an_offset_of_the_end_count_and_a_goal_beyond_reach_does_not() {
        let nodes = Limb { name: String::new(), joints: [0, 1, 2], goal: 3 };
        let same = nodes.compare(&limb(0.0), &limb(0.0)).within;
        assert!((same.limbs, same.held) == (1, 1) && same.bone < 1e-12 && same.end < 1e-12, "{same:?}");
        let rolled = nodes.compare(&limb(0.0), &limb(0.01)).within;
        assert!(rolled.held == 0 && (rolled.bone.to_radians() - 0.01).abs() < 1e-12, "{rolled:?}");
        let mut off = limb(0.0);
        off[2].translation.z += 0.000_3;
        let off = nodes.compare(&limb(0.0), &off).within;
        assert!(off.held == 0 && (off.end - 0.3).abs() < 1e-9, "{off:?}");
        let mut far = limb(0.0);
        far[3].translation = v3(1.9985, 0.0, 0.0);
        let far = nodes.compare(&far, &limb(1.0));
        assert_eq!((far.within.limbs, far.beyond.limbs, far.beyond.held), (0, 1, 0));
    }

    #[test]
    fn what_is_no_number_holds_no_bound() {
        let nodes = Limb { name: String::new(), joints: [0, 1, 2], goal: 3 };
        let mut broken = limb(0.0);
        broken[1].columns[0].x = f64::NAN;
        let both = [broken, limb(0.0)].map(|solved| nodes.compare(&limb(0.0), &solved).within);
        for sum in [both[0].and(both[1]), both[1].and(both[0])] {
            assert!(sum.held == 1 && sum.limbs == 2 && sum.bone.is_nan(), "{sum:?}");
        }
    }
}
