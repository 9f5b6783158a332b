//! Independent reader of a given BVH, to check the planter's: positions of its joints, frame by frame.

use crate::{
    maths::{Affine, Quat, V3, v3},
    scene::{Clip, Scene},
};

/// A joint with its channels.
struct Joint {
    name: String,
    parent: Option<usize>,
    offset: V3,
    channels: Vec<String>,
}

/// A file's joints and frames.
pub struct Bvh {
    joints: Vec<Joint>,
    frames: Vec<Vec<f64>>,
    frame_time: f64,
    scale: f64,
}

impl Bvh {
    /// Reads a file's text. `scale` is metres a unit.
    pub fn parse(text: &str, scale: f64) -> Result<Self, String> {
        let mut words = text.split_ascii_whitespace();
        let (mut joints, mut open): (Vec<Joint>, Vec<Option<usize>>) = (Vec::new(), Vec::new());
        let mut next = |what: &str| words.next().ok_or_else(|| format!("the BVH ends before {what}"));
        let number = |w: &str| w.parse::<f64>().map_err(|_| format!("{w:?} is no number"));
        loop {
            match next("its motion")? {
                "HIERARCHY" | "{" => {}
                "ROOT" | "JOINT" => {
                    let parent = open.last().copied().flatten();
                    joints.push(Joint {
                        name: next("a name")?.into(),
                        parent,
                        offset: V3::ZERO,
                        channels: Vec::new(),
                    });
                    open.push(Some(joints.len() - 1));
                }
                "End" => {
                    next("Site")?;
                    open.push(None);
                }
                "OFFSET" => {
                    let mut axis = || number(next("an offset")?);
                    let offset = v3(axis()?, axis()?, axis()?) * scale;
                    if let Some(Some(j)) = open.last() {
                        joints[*j].offset = offset;
                    }
                }
                "CHANNELS" => {
                    let count = number(next("a count")?)? as usize;
                    let channels =
                        (0..count).map(|_| next("a channel").map(str::to_owned)).collect::<Result<_, _>>()?;
                    if let Some(Some(j)) = open.last() {
                        joints[*j].channels = channels;
                    }
                }
                "}" => {
                    open.pop();
                }
                "MOTION" => break,
                other => return Err(format!("{other:?} in a hierarchy")),
            }
        }
        next("Frames:")?;
        let count = number(next("a count")?)? as usize;
        next("Frame")?;
        next("Time:")?;
        let frame_time = number(next("a time")?)?;
        let width: usize = joints.iter().map(|j| j.channels.len()).sum();
        let frames = (0..count)
            .map(|_| (0..width).map(|_| number(next("its last frame")?)).collect())
            .collect::<Result<_, String>>()?;
        Ok(Self { joints, frames, frame_time, scale })
    }

    /// World transforms of the joints at a frame.
    fn worlds(&self, frame: &[f64]) -> Vec<Affine> {
        let mut values = frame.iter();
        let mut worlds: Vec<Affine> = Vec::new();
        for joint in &self.joints {
            let mut place = joint.offset;
            let mut turn = Affine::IDENTITY;
            for (channel, value) in joint.channels.iter().zip(&mut values) {
                let about = |v: V3| -> Quat {
                    let (s, c) = (value.to_radians() / 2.0).sin_cos();
                    [v.x * s, v.y * s, v.z * s, c]
                };
                let spin = |v: V3| Affine::trs(V3::ZERO, about(v), v3(1.0, 1.0, 1.0));
                // Channels turn one after the other, each about the axes that those before it have turned.
                match channel.as_str() {
                    "Xposition" => place.x = value * self.scale,
                    "Yposition" => place.y = value * self.scale,
                    "Zposition" => place.z = value * self.scale,
                    "Xrotation" => turn = turn.after(&spin(v3(1.0, 0.0, 0.0))),
                    "Yrotation" => turn = turn.after(&spin(v3(0.0, 1.0, 0.0))),
                    _ => turn = turn.after(&spin(v3(0.0, 0.0, 1.0))),
                }
            }
            let local = Affine { translation: place, ..turn };
            worlds.push(joint.parent.map_or(local, |p| worlds[p].after(&local)));
        }
        worlds
    }

    /// Joints that a clip of a scene does not have where this file has them, to a tenth of a millimetre at every frame.
    pub fn differences(&self, scene: &Scene, clip: &Clip) -> Vec<String> {
        let mut far = vec![0.0_f64; self.joints.len()];
        let nodes: Vec<Option<usize>> = self.joints.iter().map(|j| scene.named(&j.name)).collect();
        for (i, frame) in self.frames.iter().enumerate() {
            let ours = self.worlds(frame);
            let theirs = scene.worlds(&scene.sample(clip, i as f64 * self.frame_time));
            for (j, node) in nodes.iter().enumerate() {
                let gap =
                    node.map_or(f64::INFINITY, |n| (theirs[n].translation - ours[j].translation).length());
                // NaN must not be passed over.
                far[j] = if gap.is_nan() { f64::INFINITY } else { far[j].max(gap) };
            }
        }
        let names = self.joints.iter().zip(&far);
        names
            .filter(|(_, d)| **d > 1e-4)
            .map(|(j, d)| format!("joint {}: {:.2} mm off", j.name, d * 1e3))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_of_two_turns_about_turned_axes() {
        let text = "HIERARCHY ROOT a { OFFSET 0 0 0 CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
            JOINT b { OFFSET 0 2 0 CHANNELS 3 Zrotation Yrotation Xrotation End Site { OFFSET 0 1 0 } } }
            MOTION Frames: 2 Frame Time: 0.1
            1 2 3 90 0 0 0 0 0
            0 0 0 90 0 90 0 0 0";
        let bvh = Bvh::parse(text, 0.5).unwrap();
        let at = |f: usize| bvh.worlds(&bvh.frames[f])[1].translation;
        // Up turned about Z by a right angle is -X.
        assert!(at(0).apart(v3(0.5 - 1.0, 1.0, 1.5)) < 1e-12, "{:?}", at(0));
        // About X first (up becomes Z), then about Z, which leaves Z.
        assert!(at(1).apart(v3(0.0, 0.0, 1.0)) < 1e-12, "{:?}", at(1));
        assert!(Bvh::parse(&text[..300], 1.0).is_err(), "cut off");
    }
}
