//! Drawing of a figure in a pose: its bones, and behind them the outline of its skin.

use glam::Vec3;
use sinew::{
    JointId, Pose, Skeleton,
    body::{BodyRoles, Side},
    draw::{DrawList, ShapeKind},
};
use sinew_files::{Model, SkinVertex};

use super::{
    canvas::Canvas,
    path::{Path, Point},
    style,
    view::View,
};
use crate::model;

/// The joints of a skeleton that make the figure, and a coarse hull of its skin.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Joints, each with the joint at the other end of its bone.
    bones: Vec<Bone>,
    /// For each joint with a skin, the skin's outermost points.
    skins: Vec<Skin>,
}

#[derive(Clone, Debug)]
struct Bone {
    joint: JointId,
    from: Option<JointId>,
    side: Option<Side>,
    /// Whether a limb begins here: the joint has a side, and the joint above has none.
    begins: bool,
}

#[derive(Clone, Debug)]
struct Skin {
    joint: JointId,
    /// The nearest joint of the figure above.
    from: Option<JointId>,
    side: Option<Side>,
    /// Points in the joint's local space, in metres.
    points: Vec<Vec3>,
}

/// Style in which a figure is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Look {
    /// In full colour.
    Full,
    /// As thin grey lines.
    Faint,
    /// As thin grey lines in the outline of the skin.
    Ghost,
}

/// Bounding rectangle in a view's plane, in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Minimum.
    pub lo: Point,
    /// Maximum.
    pub hi: Point,
}

impl Extent {
    /// The empty rectangle.
    pub const NONE: Self = Self { lo: [f32::INFINITY; 2], hi: [f32::NEG_INFINITY; 2] };

    /// Extends the rectangle to a point; a point that is not finite is ignored.
    pub fn add(&mut self, p: Point) {
        if p[0].is_finite() && p[1].is_finite() {
            self.lo = [self.lo[0].min(p[0]), self.lo[1].min(p[1])];
            self.hi = [self.hi[0].max(p[0]), self.hi[1].max(p[1])];
        }
    }

    /// Extends the rectangle to another.
    pub fn join(&mut self, other: &Self) {
        self.add(other.lo);
        self.add(other.hi);
    }

    /// Whether the rectangle holds a point.
    pub fn is_some(&self) -> bool {
        self.lo[0] <= self.hi[0] && self.lo[1] <= self.hi[1]
    }

    /// Width and height; 0 for the empty rectangle.
    pub fn size(&self) -> Point {
        if self.is_some() { [self.hi[0] - self.lo[0], self.hi[1] - self.lo[1]] } else { [0.0; 2] }
    }
}

/// Number of directions in which a skin's outermost points are kept. At the size of a picture, their outline looks like that
/// of the whole skin.
const DIRECTIONS: usize = 60;

impl Figure {
    /// The figure of a model. Left and right come from the body's roles, and from names for other joints.
    pub fn of_model(model: &Model, bind: &Pose, body: Option<&BodyRoles>) -> Self {
        let skeleton = &*model.skeleton;
        let mut sides = sides_by_name(skeleton);
        if let Some(body) = body {
            for side in Side::BOTH {
                let arm = body.arm(side).map(|arm| arm.clavicle.unwrap_or(arm.upper_arm));
                for root in [Some(body.leg(side).thigh), arm].into_iter().flatten() {
                    for joint in skeleton.below(root) {
                        if let Some(s) = sides.get_mut(joint.index()) {
                            *s = Some(side);
                        }
                    }
                }
            }
        }
        let also: Vec<_> = body.iter().flat_map(|b| b.assigned.iter().map(|a| a.joint)).collect();
        let skin: Vec<_> = model::skin(model, body).copied().collect();
        Self::new(bind, &skin, &also, |joint| sides.get(joint.index()).copied().flatten())
    }

    /// The figure of the joints that move a skin and those between them, without a file's control bones, cameras and meshes.
    /// Without a skin, all joints belong to it. `rest` is the bind pose, `also` are joints that belong to the figure in any
    /// case, and `side` returns the half of the body that a joint is in.
    pub fn new(
        rest: &Pose,
        skin: &[SkinVertex],
        also: &[JointId],
        side: impl Fn(JointId) -> Option<Side>,
    ) -> Self {
        let skeleton = &**rest.skeleton();
        let count = skeleton.len();
        let mut weighted = vec![skin.is_empty(); count];
        for joint in skin.iter().map(|v| v.joint).chain(also.iter().copied()) {
            if let Some(w) = weighted.get_mut(joint.index()) {
                *w = true;
            }
        }
        let mut below = weighted.clone();
        for joint in skeleton.joints().rev() {
            if let (true, Some(parent)) = (below[joint.index()], skeleton.parent(joint)) {
                below[parent.index()] = true;
            }
        }
        // For each joint, the nearest joint of the figure at or above it.
        let mut nearest: Vec<Option<JointId>> = vec![None; count];
        let mut bones = Vec::new();
        for joint in skeleton.joints() {
            let above = skeleton.parent(joint).and_then(|p| nearest[p.index()]);
            nearest[joint.index()] = above;
            if weighted[joint.index()] || (below[joint.index()] && above.is_some()) {
                nearest[joint.index()] = Some(joint);
                let this = side(joint);
                let begins = this.is_some() && above.is_some_and(|from| side(from).is_none());
                bones.push(Bone { joint, from: above, side: this, begins });
            }
        }
        let skins = outer_points(skeleton, skin)
            .into_iter()
            .map(|(joint, points)| {
                let from = skeleton.parent(joint).and_then(|p| nearest[p.index()]);
                Skin { joint, from, side: side(joint), points }
            })
            .collect();
        let mut figure = Self { bones, skins };
        figure.drop_held_objects(rest);
        figure
    }

    /// Removes objects held in hands: skin of a limb that reaches further from its joint than half the body's height.
    fn drop_held_objects(&mut self, rest: &Pose) {
        let positions = || self.joints().map(|j| rest.position(j)).filter(|p| p.is_finite());
        let (lo, hi) =
            positions().fold((f32::INFINITY, f32::NEG_INFINITY), |(lo, hi), p| (lo.min(p.y), hi.max(p.y)));
        let max_reach = (hi - lo) * 0.5;
        self.skins.retain(|skin| {
            let frame = rest.model(skin.joint);
            let reach = skin.points.iter().map(|&p| frame.transform_vector3(p).length()).fold(0.0, f32::max);
            skin.side.is_none() || reach <= max_reach
        });
    }

    /// The joints of the figure, parents first.
    pub fn joints(&self) -> impl Iterator<Item = JointId> {
        self.bones.iter().map(|b| b.joint)
    }

    /// Whether the figure has a joint in this half of the body (`None`: in its middle).
    pub fn has(&self, side: Option<Side>) -> bool {
        self.bones.iter().any(|b| b.side == side)
    }

    /// The half of the body that a joint is in; `None` for the middle.
    pub fn side(&self, joint: JointId) -> Option<Side> {
        self.bones.iter().find(|b| b.joint == joint)?.side
    }

    /// Bounding rectangle of a pose in a view.
    pub fn extent(&self, pose: &Pose, view: &View) -> Extent {
        let mut extent = Extent::NONE;
        for joint in self.joints() {
            extent.add(view.plane(pose.position(joint)));
        }
        for skin in &self.skins {
            let frame = pose.model(skin.joint);
            for &p in &skin.points {
                extent.add(view.plane(frame.transform_point3(p)));
            }
        }
        extent
    }

    /// Mean position of all joints, in model space; `None` if no position is finite.
    pub fn middle(&self, pose: &Pose) -> Option<Vec3> {
        self.middle_of(pose, |_| true)
    }

    fn middle_of(&self, pose: &Pose, of: impl Fn(&Bone) -> bool) -> Option<Vec3> {
        let (sum, n) = self
            .bones
            .iter()
            .filter(|b| of(b))
            .map(|b| pose.position(b.joint))
            .filter(|p| p.is_finite())
            .fold((Vec3::ZERO, 0u32), |(s, n), p| (s + p, n + 1));
        (n > 0).then(|| sum / n as f32)
    }

    /// The horizontal direction that a pose faces, from the positions at which its limbs begin; `None` if the figure has no
    /// left and right.
    pub fn facing(&self, pose: &Pose) -> Option<Vec3> {
        // Further down, limbs swing, and their positions say little about the body's direction.
        let mut sums = [(Vec3::ZERO, 0.0f32); 2];
        for bone in self.bones.iter().filter(|b| b.begins) {
            let (Some(side), at) = (bone.side, pose.position(bone.joint)) else { continue };
            if at.is_finite() {
                let (sum, n) = &mut sums[side.index()];
                (*sum, *n) = (*sum + at, *n + 1.0);
            }
        }
        let [(left, l), (right, r)] = sums;
        let across = left / l - right / r;
        Vec3::new(across.x, 0.0, across.z).cross(Vec3::Y).try_normalize()
    }

    /// Draws a pose. `height` is the figure's in metres, and sets the thickness of the bones.
    pub fn draw(&self, canvas: &mut Canvas, pose: &Pose, view: &View, look: Look, height: f32) {
        if look != Look::Full {
            if look == Look::Ghost {
                let flesh = self.flesh_of(pose, view, |_| true);
                canvas.stroke(flesh.clone(), style::tint(style::BEFORE, 0.85), 2.4);
                canvas.fill(flesh, style::PAPER);
            }
            let mut path = Path::default();
            for bone in &self.bones {
                if let Some(from) = bone.from {
                    path.add_line([pose.position(from), pose.position(bone.joint)].map(|p| view.project(p)));
                }
            }
            return canvas.stroke(path, style::BEFORE, 1.8);
        }
        // The half behind the middle of the body is drawn first; a half beside the middle is drawn over it.
        let nearness = |side: Option<Side>| {
            self.middle_of(pose, |b| b.side == side).map_or(f32::NEG_INFINITY, |p| view.nearness(p))
        };
        let middle = nearness(None) - 0.02 * height;
        let (behind, before): (Vec<_>, Vec<_>) =
            Side::BOTH.into_iter().map(Some).partition(|&side| nearness(side) < middle);
        let sides: Vec<_> = behind.into_iter().chain([None]).chain(before).collect();
        // Bones are drawn last, so that no skin hides one.
        for &side in &sides {
            self.flesh(canvas, pose, view, side);
        }
        for side in sides {
            self.solid_bones(canvas, pose, view, side, height);
        }
    }

    /// Draws a dot at each joint, smaller where the next joint is near.
    pub fn dots(&self, canvas: &mut Canvas, pose: &Pose, view: &View) {
        for bone in &self.bones {
            let at = pose.position(bone.joint);
            let length = bone.from.map_or(f32::INFINITY, |f| (pose.position(f) - at).length() * view.scale);
            let radius = (length * 0.12).clamp(1.0, 5.0);
            canvas.circle(view.project(at), radius, style::body(bone.side));
            canvas.circle(view.project(at), radius * 0.55, style::PAPER);
        }
    }

    fn flesh(&self, canvas: &mut Canvas, pose: &Pose, view: &View, side: Option<Side>) {
        let flesh = self.flesh_of(pose, view, |s| s == side);
        let color = style::body(side);
        // The rim keeps limbs of the same tint apart.
        canvas.stroke(flesh.clone(), style::tint(color, 0.45), 2.0);
        canvas.fill(flesh, style::tint(color, 0.22));
    }

    /// Outlines of the skin of some sides.
    fn flesh_of(&self, pose: &Pose, view: &View, of: impl Fn(Option<Side>) -> bool) -> Path {
        let mut flesh = Path::default();
        let mut outlines: Vec<(JointId, Vec<Point>)> = Vec::new();
        for skin in self.skins.iter().filter(|s| of(s.side)) {
            let frame = pose.model(skin.joint);
            let points = skin.points.iter().map(|&p| view.project(frame.transform_point3(p)));
            let outline = hull(points.collect());
            flesh.add_polygon(&outline);
            // A coarse mesh has no vertices between two joints; the gap between their hulls is filled.
            let neighbour = outlines.iter().find(|(joint, _)| Some(*joint) == skin.from);
            if let Some((_, other)) = neighbour.filter(|(_, other)| apart(&outline, other)) {
                flesh.add_polygon(&hull(outline.iter().chain(other).copied().collect()));
            }
            outlines.push((skin.joint, outline));
        }
        flesh
    }

    fn solid_bones(&self, canvas: &mut Canvas, pose: &Pose, view: &View, side: Option<Side>, height: f32) {
        let color = style::body(side);
        let mut list = DrawList::new();
        for bone in self.bones.iter().filter(|b| b.side == side) {
            let Some(from) = bone.from else { continue };
            let (from, to) = (pose.position(from), pose.position(bone.joint));
            // The figure's height sets the radius; a short bone's own length limits it, so that fingers stay thin.
            let radius = (height * 0.017).min((to - from).length() * 0.13);
            let thickness = radius / (to - from).length().max(f32::MIN_POSITIVE);
            list.bone(from, to, thickness, side, Some(bone.joint));
        }
        let mut solid = Path::default();
        for shape in list.shapes() {
            let points = list.points(shape).iter().map(|&p| view.project(p));
            match shape.kind {
                ShapeKind::Triangles => solid.add_polygon(&hull(points.collect())),
                _ => canvas.stroke(Path::line(points), color, 1.5),
            }
        }
        canvas.stroke(solid.clone(), color, 1.2);
        canvas.fill(solid, color);
    }
}

/// For each joint with a skin of three points or more, the points that are outermost in [`DIRECTIONS`] directions.
fn outer_points(skeleton: &Skeleton, skin: &[SkinVertex]) -> Vec<(JointId, Vec<Vec3>)> {
    let mut all: Vec<Vec<Vec3>> = vec![Vec::new(); skeleton.len()];
    for vertex in skin.iter().filter(|v| v.position.is_finite()) {
        if let Some(points) = all.get_mut(vertex.joint.index()) {
            points.push(vertex.position);
        }
    }
    skeleton
        .joints()
        .zip(all)
        .filter(|(_, points)| points.len() >= 3)
        .map(|(joint, points)| {
            let mut kept: Vec<usize> = (0..DIRECTIONS)
                .filter_map(|i| {
                    let d = direction(i);
                    (0..points.len()).max_by(|&a, &b| points[a].dot(d).total_cmp(&points[b].dot(d)))
                })
                .collect();
            kept.sort_unstable();
            kept.dedup();
            (joint, kept.into_iter().map(|i| points[i]).collect())
        })
        .collect()
}

/// The i-th of [`DIRECTIONS`] unit vectors, which are spread evenly over the sphere along a spiral of the golden angle.
fn direction(i: usize) -> Vec3 {
    let y = 1.0 - (2 * i + 1) as f32 / DIRECTIONS as f32;
    let r = (1.0 - y * y).max(0.0).sqrt();
    let a = i as f32 * 2.399_963_2;
    Vec3::new(r * a.cos(), y, r * a.sin())
}

/// The convex hull of points (Andrew's monotone chain). Points that are not finite are ignored.
fn hull(mut points: Vec<Point>) -> Vec<Point> {
    points.retain(|p| p[0].is_finite() && p[1].is_finite());
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    points.dedup();
    if points.len() < 3 {
        return points;
    }
    let half = |points: &mut dyn Iterator<Item = Point>| {
        let mut chain: Vec<Point> = Vec::new();
        for p in points {
            while let [.., a, b] = chain[..] {
                if (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0.0 {
                    break;
                }
                chain.pop();
            }
            chain.push(p);
        }
        chain.pop();
        chain
    };
    let mut outline = half(&mut points.iter().copied());
    outline.extend(half(&mut points.iter().rev().copied()));
    outline
}

/// Whether a line separates two convex outlines.
fn apart(a: &[Point], b: &[Point]) -> bool {
    let separates = |a: &[Point], b: &[Point]| {
        a.iter().zip(a.iter().cycle().skip(1)).any(|(p, q)| {
            let across = |r: &Point| (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
            // For all of `a`, this is not negative.
            !b.is_empty() && b.iter().all(|r| across(r) < 0.0)
        })
    };
    separates(a, b) || separates(b, a)
}

/// The half of the body that each joint is in, in the skeleton's order: that of the joint above, or else by its own name.
pub(super) fn sides_by_name(skeleton: &Skeleton) -> Vec<Option<Side>> {
    let mut sides: Vec<Option<Side>> = Vec::with_capacity(skeleton.len());
    for joint in skeleton.joints() {
        let above = skeleton.parent(joint).and_then(|p| sides.get(p.index()).copied().flatten());
        sides.push(above.or_else(|| side_of_name(skeleton.name(joint))));
    }
    sides
}

/// The half of the body that a name tells. Words of a name begin at capitals and after characters that are no letters:
/// `LeftUpLeg`, `thigh.L`, `l_arm`. CMU's names (`lfemur`) join the side and the part.
fn side_of_name(name: &str) -> Option<Side> {
    const PARTS: [&str; 12] = [
        "femur", "tibia", "foot", "toes", "hipjoint", "clavicle", "humerus", "radius", "wrist", "hand",
        "fingers", "thumb",
    ];
    let mut words: Vec<String> = vec![String::new()];
    let mut small_before = false;
    for c in name.chars() {
        let splits = !c.is_alphabetic() || (c.is_uppercase() && small_before);
        if splits {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_alphabetic(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
        small_before = c.is_lowercase();
    }
    words.iter().find_map(|word| match word.as_str() {
        "l" | "left" => Some(Side::Left),
        "r" | "right" => Some(Side::Right),
        word => {
            let side = if word.starts_with('l') {
                Side::Left
            } else if word.starts_with('r') {
                Side::Right
            } else {
                return None;
            };
            PARTS.contains(&word.get(1..)?).then_some(side)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_read_from_names() {
        use Side::{Left, Right};
        for (name, side) in [
            ("mixamorig:LeftUpLeg", Some(Left)),
            ("thigh.R", Some(Right)),
            ("lfemur", Some(Left)),
            ("rhipjoint", Some(Right)),
            ("Skeleton_leg_joint_L_1", Some(Left)),
            ("Bip01 R Foot", Some(Right)),
            ("ltail", None),
            ("radius", None),
            ("Spine1", None),
            ("", None),
        ] {
            assert_eq!(side_of_name(name), side, "{name}");
        }
    }

    #[test]
    fn a_hull_leaves_out_what_lies_within() {
        let square = [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]];
        let mut points = square.to_vec();
        points.extend([[1.0, 1.0], [0.5, 0.2], [1.0, 0.0]]);
        let outline = hull(points);
        assert_eq!(outline.len(), 4);
        assert!(square.iter().all(|p| outline.contains(p)));
        assert!(!apart(&outline, &hull(vec![[1.5, 1.0], [4.0, 0.0], [4.0, 2.0]])));
        assert!(apart(&outline, &hull(vec![[2.5, 1.0], [4.0, 0.0], [4.0, 2.0]])));
    }
}
