//! Picture of an arm: its moving links as bones, the limits of its joints as arcs and rails.

use std::sync::Arc;

use glam::{DAffine3, DMat3, DQuat, DVec3, Vec3};
use sinew::{
    JointId, JointTransform, Pose, Skeleton,
    body::Side,
    draw::DrawList,
    joint::Joint,
    mechanism::{LinkFrames, LinkId, Mechanism},
};
use sinew_files::urdf;

use super::MAX_NAMES;
use crate::{
    args::DrawArgs,
    failure::Failure,
    lookup::ends,
    picture::{
        figure::Figure,
        pose::{PosePicture, Solved},
        save::save,
    },
    solve,
};

/// Radius of arcs and length of rails, as a share of the arm's size.
const RADIUS: f32 = 0.07;

/// Draws an arm at rest, or before and after it reaches for a goal.
pub fn run(args: &DrawArgs) -> Result<(), Failure> {
    if args.clip.is_some() {
        return Err(Failure::Usage("--clip is for figures; a .urdf has no clips".into()));
    }
    if args.curve.curve.is_some() {
        return Err(Failure::Usage("--curve is for figures, not for a .urdf".into()));
    }
    if args.goals.is_some() {
        return Err(Failure::Usage("--goals is for figures, not for a .urdf; use --to".into()));
    }
    let options = args.units.options(&args.model)?;
    let mechanism = urdf::read_with(&args.model, &options)?;
    let in_file = |e: Failure| match e {
        Failure::Work(what) => Failure::Work(format!("{}: {what}", args.model.display())),
        other => other,
    };
    let (root, tip) = ends(&mechanism, args.chain.as_ref()).map_err(in_file)?;
    let rest = mechanism.rest();
    // Without a chain, the limits of all joints are drawn.
    let chain = tip.clone().ok().filter(|_| args.chain.is_some() || args.to.is_some());
    let shown = Shown::new(&mechanism, root, chain)?;
    let before = shown.pose(&mechanism, &rest)?;
    let handles;
    let (mut pose, mut subtitle, mut solved) = (before.clone(), "at rest".to_string(), None);
    if let Some(to) = args.to {
        let one = solve::One {
            chain: args.chain.as_ref(),
            solver: args.solver,
            to: Some(to),
            pole: args.pole,
            curve: None,
        };
        let (values, summary) = solve::one_arm(mechanism.clone(), &one).map_err(in_file)?;
        pose = shown.pose(&mechanism, &values)?;
        subtitle = summary;
        // Goals are in the space of the chain's root.
        let mut placement = LinkFrames::new(&mechanism);
        mechanism.forward_kinematics(&rest, &mut placement).map_err(Failure::work)?;
        let base = mechanism.link_transform(&placement, root);
        let point = |p: [f64; 3]| upright(base.transform_point3(DVec3::from_array(p))).as_vec3();
        let from = shown.limited().next().map(|j| pose.position(j)).unwrap_or_default();
        handles = [(from, point(to))];
        solved = Some(Solved { before: &before, goals: &handles, pole: args.pole.map(point), curve: &[] });
    } else {
        let n = mechanism.dofs().len();
        subtitle.push_str(&format!(", {n} joint{}", if n == 1 { "" } else { "s" }));
    }
    let skeleton = &*shown.skeleton;
    let sides = shown.sides(&mechanism);
    let figure = Figure::new(&before, &[], &[], |j| sides.get(j.index()).copied().flatten());
    let named: Vec<_> = shown.limited().collect();
    let mut limits = DrawList::new();
    let positions = || skeleton.joints().map(|j| before.position(j));
    let size =
        positions().reduce(Vec3::max).unwrap_or_default() - positions().reduce(Vec3::min).unwrap_or_default();
    limits.limits(&pose, shown.limited().map(|j| (j, None)), size.max_element() * RADIUS);
    let picture = PosePicture {
        title: mechanism.name().into(),
        subtitle,
        figure: &figure,
        pose: &pose,
        named: if named.len() <= MAX_NAMES { named } else { Vec::new() },
        limits,
        solved,
    };
    Ok(save(&picture.draw(), &args.out)?)
}

/// Converts a point from URDF's axes (X forward, Z up) to those of pictures (Z forward, Y up).
fn upright(p: DVec3) -> DVec3 {
    DVec3::new(p.y, p.z, p.x)
}

/// Link that is drawn.
struct Part {
    link: LinkId,
    /// Index of the part that carries it.
    above: Option<usize>,
    name: String,
    joint: Joint,
    /// Whether the joint's limits are drawn.
    limited: bool,
}

impl Part {
    fn fixed(link: LinkId, above: Option<usize>, name: String) -> Self {
        Self { link, above, name, joint: Joint::FIXED, limited: false }
    }
}

/// The part of a link, or of the nearest link above that has one.
fn carrier(mechanism: &Mechanism, parts: &[Part], link: Option<LinkId>) -> Option<usize> {
    let mut upward = std::iter::successors(link, |&l| mechanism.link_parent(l));
    upward.find_map(|l| parts.iter().position(|part| part.link == l))
}

/// For each part that carries no other, the farthest link that is fixed to it, such as a tool or the sole of a foot.
fn tools(mechanism: &Mechanism, placement: &LinkFrames, parts: &[Part]) -> Vec<Part> {
    let at = |link| mechanism.link_transform(placement, link).translation;
    let mut furthest: Vec<Option<(f64, LinkId)>> = vec![None; parts.len()];
    for link in mechanism.links().filter(|&l| parts.iter().all(|part| part.link != l)) {
        let Some(carrier) = carrier(mechanism, parts, Some(link)) else { continue };
        let away = at(link).distance(at(parts[carrier].link));
        if away > 0.0 && furthest[carrier].is_none_or(|(far, _)| away > far) {
            furthest[carrier] = Some((away, link));
        }
    }
    let last = |k: usize| parts.iter().all(|part| part.above != Some(k));
    let found = furthest.into_iter().enumerate().filter(|&(k, _)| last(k));
    found.filter_map(|(k, far)| Some(Part::fixed(far?.1, Some(k), String::new()))).collect()
}

/// The links of an arm that are drawn, as joints of a skeleton.
struct Shown {
    parts: Vec<Part>,
    /// For each part, its joint.
    ids: Vec<JointId>,
    skeleton: Arc<Skeleton>,
}

impl Shown {
    /// Makes the skeleton of the links with moving joints and of the chain's ends, without cameras and other fixed parts.
    /// The limits of the joints from `root` to `tip` are drawn; without a tip, those of all joints.
    fn new(mechanism: &Mechanism, root: LinkId, tip: Option<LinkId>) -> Result<Self, Failure> {
        // Joints are measured from the pose in which every value is 0.
        let mut placement = LinkFrames::new(mechanism);
        let zero = vec![0.0; mechanism.dofs().len()];
        mechanism.forward_kinematics(&zero, &mut placement).map_err(Failure::work)?;
        let mut parts: Vec<Part> = Vec::new();
        for link in mechanism.links() {
            let parent = mechanism.link_parent(link);
            let moved = mechanism.joint(link).is_some_and(|joint| *joint != Joint::FIXED);
            let end = Some(link) == tip || link == root;
            if parent.is_some() && !moved && !end {
                continue;
            }
            let above = carrier(mechanism, &parts, parent);
            let name = mechanism.link_name(link).to_string();
            let mut part = Part::fixed(link, above, name);
            if moved {
                let on_chain =
                    tip.is_none_or(|t| mechanism.is_below(t, link)) && mechanism.is_below(link, root);
                // A joint that mimics has no limits of its own.
                part.limited = mechanism.mimic(link).is_none() && link != root && on_chain;
                if let Some(joint) = mechanism.narrowed_joint(link).filter(|_| part.limited) {
                    part.name = mechanism.joint_name(link).unwrap_or_default().into();
                    part.joint = joint;
                }
            }
            parts.push(part);
        }
        let tools = tools(mechanism, &placement, &parts);
        parts.extend(tools);
        let mut builder = Skeleton::builder();
        for (part, rest) in parts.iter().zip(locals(&parts, mechanism, &placement)) {
            builder.add(part.name.clone(), part.above, rest);
        }
        let (mut skeleton, ids) = builder.build().map_err(Failure::work)?;
        for (&id, part) in ids.iter().zip(&parts) {
            skeleton.set_joint(id, part.joint).map_err(Failure::work)?;
        }
        Ok(Self { parts, ids, skeleton: Arc::new(skeleton) })
    }

    /// The joints whose limits are drawn.
    fn limited(&self) -> impl Iterator<Item = JointId> {
        self.ids.iter().zip(&self.parts).filter(|(_, part)| part.limited).map(|(&id, _)| id)
    }

    /// The half of the robot that each joint is in, by the name of its link or of one above, in the skeleton's order.
    fn sides(&self, mechanism: &Mechanism) -> Vec<Option<Side>> {
        let mut sides = vec![None; self.skeleton.len()];
        for (part, id) in self.parts.iter().zip(&self.ids) {
            let above = part.above.and_then(|a| sides[self.ids[a].index()]);
            sides[id.index()] = above.or_else(|| side(mechanism.link_name(part.link)));
        }
        // A single side is probably a coincidence in a name.
        let both = Side::BOTH.iter().all(|side| sides.contains(&Some(*side)));
        if both { sides } else { vec![None; sides.len()] }
    }

    fn pose(&self, mechanism: &Mechanism, values: &[f64]) -> Result<Pose, Failure> {
        let mut placement = LinkFrames::new(mechanism);
        mechanism.forward_kinematics(values, &mut placement).map_err(Failure::work)?;
        let mut pose = Pose::rest(&self.skeleton);
        for (&joint, local) in self.ids.iter().zip(locals(&self.parts, mechanism, &placement)) {
            pose.set_local(joint, local);
        }
        pose.update();
        Ok(pose)
    }
}

/// Each part's transform relative to the part that carries it.
fn locals(parts: &[Part], mechanism: &Mechanism, placement: &LinkFrames) -> Vec<JointTransform> {
    let frame = |part: &Part| {
        let link = mechanism.link_transform(placement, part.link);
        DAffine3::from_mat3(DMat3::from_cols(DVec3::Z, DVec3::X, DVec3::Y)) * link
    };
    let frames: Vec<DAffine3> = parts.iter().map(frame).collect();
    let local = |(part, frame): (&Part, &DAffine3)| {
        let local = part.above.map_or(*frame, |above| frames[above].inverse() * *frame);
        let rotation = DQuat::from_mat3(&local.matrix3).normalize().as_quat();
        JointTransform { translation: local.translation.as_vec3(), rotation, ..JointTransform::IDENTITY }
    };
    parts.iter().zip(&frames).map(local).collect()
}

/// The half of the robot that a link's name tells. Names begin with the side (`r_elbow`, `LF_HIP`, `RARM_LINK3`); an R at
/// the end of a name may also stand for roll.
fn side(name: &str) -> Option<Side> {
    let first =
        name.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| !word.is_empty())?.to_lowercase();
    match first.as_str() {
        "l" | "left" | "lf" | "lh" | "larm" | "lleg" => Some(Side::Left),
        "r" | "right" | "rf" | "rh" | "rarm" | "rleg" => Some(Side::Right),
        _ => None,
    }
}
