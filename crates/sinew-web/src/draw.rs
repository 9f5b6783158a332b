//! Lists of shapes to draw, and their arrays of vertices.

use sinew::{
    JointId, Report,
    body::Side,
    draw::{Batches, DrawList, Shape, ShapeKind, ShapeRole, Theme, Vertices},
    glam::{Quat, Vec3},
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    along::RawCurve,
    exchange::{self, OTHER, read, read_f32, read_vector, write},
    failure::failure,
    plane::RawChain2d,
    pose::RawPose,
};

/// First number of the style of the shapes that a call adds: side (0 none, 1 left, 2 right) and colour (-1 for the theme's).
const STYLE: usize = OTHER + 16;

/// Names of roles, in the order that `js/draw.ts` has too.
const ROLES: [ShapeRole; 19] = [
    ShapeRole::Bone,
    ShapeRole::JointMark,
    ShapeRole::Goal,
    ShapeRole::Pole,
    ShapeRole::Ray,
    ShapeRole::Hit,
    ShapeRole::Ground,
    ShapeRole::Limit,
    ShapeRole::Reference,
    ShapeRole::Handle,
    ShapeRole::Swivel,
    ShapeRole::Needle,
    ShapeRole::Preferred,
    ShapeRole::Residual,
    ShapeRole::AxisX,
    ShapeRole::AxisY,
    ShapeRole::AxisZ,
    ShapeRole::Path,
    ShapeRole::Angle,
];

fn side() -> Option<Side> {
    match read(STYLE) as u32 {
        1 => Some(Side::Left),
        2 => Some(Side::Right),
        _ => None,
    }
}

fn color() -> Option<[u8; 3]> {
    let packed = read(STYLE + 1);
    (packed >= 0.0).then(|| {
        let [_, r, g, b] = (packed as u32).to_be_bytes();
        [r, g, b]
    })
}

/// Joints of a pose by their indices, all without any, each with the call's side.
fn joints(pose: &RawPose, indices: Option<Vec<u32>>) -> Result<Vec<(JointId, Option<Side>)>, JsValue> {
    let (skeleton, side) = (pose.pose.skeleton(), side());
    let Some(indices) = indices else {
        return Ok(skeleton.joints().map(|joint| (joint, side)).collect());
    };
    let found = |index: u32| {
        let joint = skeleton.joint_at(index as usize);
        joint
            .ok_or_else(|| failure("input", format_args!("there is no joint {index}")))
            .map(|joint| (joint, side))
    };
    indices.into_iter().map(found).collect()
}

/// A list of shapes, and its vertices.
#[wasm_bindgen]
#[derive(Default)]
pub struct RawDrawList {
    list: DrawList,
    batches: Batches,
}

#[wasm_bindgen]
impl RawDrawList {
    /// An empty list.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes all shapes and labels.
    pub fn clear(&mut self) {
        self.list.clear();
    }

    /// Adds a shape of points.
    pub fn push(&mut self, kind: u32, role: usize, radius: f32, points: &[f32]) -> Result<(), JsValue> {
        let kind = match kind {
            0 => ShapeKind::Segments,
            1 => ShapeKind::Polyline,
            2 => ShapeKind::Triangles,
            3 => ShapeKind::Area,
            _ => ShapeKind::Discs { radius },
        };
        let role =
            *ROLES.get(role).ok_or_else(|| failure("type", format_args!("there is no role {role}")))?;
        let points = points.chunks_exact(3).map(Vec3::from_slice);
        self.add(|list| list.push(Shape::new(role, kind).with_side(side()), points));
        Ok(())
    }

    /// Adds bones and joints of a pose.
    pub fn bones(
        &mut self,
        pose: &mut RawPose,
        indices: Option<Vec<u32>>,
        thickness: f32,
    ) -> Result<(), JsValue> {
        pose.pull();
        let joints = joints(pose, indices)?;
        self.add(|list| list.bones(&pose.pose, joints, thickness));
        Ok(())
    }

    /// Adds the limits of joints.
    pub fn limits(
        &mut self,
        pose: &mut RawPose,
        indices: Option<Vec<u32>>,
        radius: f32,
    ) -> Result<(), JsValue> {
        pose.pull();
        let joints = joints(pose, indices)?;
        self.add(|list| list.limits(&pose.pose, joints, radius));
        Ok(())
    }

    /// Adds the names of joints.
    pub fn names(&mut self, pose: &mut RawPose, indices: Option<Vec<u32>>) -> Result<(), JsValue> {
        pose.pull();
        self.list.names(&pose.pose, joints(pose, indices)?);
        Ok(())
    }

    /// Adds a bone between the two positions in the exchange.
    pub fn bone(&mut self, thickness: f32) {
        let [from, to] = [read_vector(OTHER), read_vector(OTHER + 3)];
        self.add(|list| list.bone(from, to, thickness, side(), None));
    }

    /// Adds a cross at the position in the exchange.
    pub fn goal(&mut self, size: f32) {
        let at = read_vector(OTHER);
        self.add(|list| list.goal(at, size, side()));
    }

    /// Adds the goal in the exchange after a solve. The exchange has the position of the end, the distance out of reach, the residual
    /// and its tolerance, too.
    #[wasm_bindgen(js_name = solvedGoal)]
    pub fn solved_goal(&mut self, size: f32) {
        let mut report = Report::default();
        [report.out_of_reach, report.position_residual, report.position_tolerance] = read_f32(OTHER + 3);
        let (goal, end) = (exchange::read_goal(), read_vector(OTHER));
        self.add(|list| list.solved_goal(&goal, end, &report, size, side()));
    }

    /// Adds the axes of the frame in the exchange.
    pub fn axes(&mut self, length: f32) {
        let rotation = Quat::from_array(read_f32(OTHER + 3));
        self.add(|list| list.axes(read_vector(OTHER), rotation, length));
    }

    /// Adds a curve.
    pub fn curve(&mut self, curve: &RawCurve, steps: usize) {
        self.add(|list| list.curve(&curve.curve, steps));
    }

    /// Adds the angle between two directions: the exchange has its position and both.
    pub fn angle(&mut self, radius: f32, text: &str) {
        let directions = [read_vector(OTHER + 3), read_vector(OTHER + 6)];
        self.add(|list| list.angle(read_vector(OTHER), directions, radius, side(), text));
    }

    /// Adds a pole: the exchange has the position of the middle joint and that of the pole.
    pub fn pole(&mut self, size: f32) {
        self.add(|list| list.pole(read_vector(OTHER), read_vector(OTHER + 3), size, side()));
    }

    /// Adds a cast between the two positions in the exchange.
    pub fn ray(&mut self, hit: bool, size: f32) {
        self.add(|list| list.ray(read_vector(OTHER), read_vector(OTHER + 3), hit, size));
    }

    /// Adds a text: the exchange has its position, and the direction in which it hides least.
    pub fn label(&mut self, role: usize, text: &str) -> Result<(), JsValue> {
        let role =
            *ROLES.get(role).ok_or_else(|| failure("type", format_args!("there is no role {role}")))?;
        self.list.label(role, side(), None, read_vector(OTHER), read_vector(OTHER + 3), text);
        Ok(())
    }

    /// Adds the bones of a chain in the plane.
    pub fn chain2d(&mut self, chain: &mut RawChain2d, thickness: f32) -> Result<(), JsValue> {
        let chain = chain.chain()?;
        self.add(|list| list.planar_bones(chain, thickness, side()));
        Ok(())
    }

    /// Adds the limits of a chain in the plane.
    #[wasm_bindgen(js_name = chain2dLimits)]
    pub fn chain2d_limits(&mut self, chain: &mut RawChain2d, radius: f32) -> Result<(), JsValue> {
        let chain = chain.chain()?;
        self.add(|list| list.planar_limits(chain, radius, side()));
        Ok(())
    }

    /// Fills the arrays of vertices. Leaves the addresses of positions and colours and the count of vertices of lines, solids, areas
    /// and discs in the exchange, and the address of the radii.
    pub fn fill(&mut self, dark: bool) {
        self.batches.fill(&self.list, if dark { Theme::Dark } else { Theme::Light });
        let batches = &self.batches;
        let all = [batches.lines(), batches.solids(), batches.areas(), batches.discs()];
        let address = |numbers: &[f32]| numbers.as_ptr() as usize as f64;
        let of = |v: &Vertices| [address(v.positions()), address(v.colors()), v.len() as f64];
        write(OTHER, all.map(of).as_flattened());
        write(OTHER + 12, &[address(batches.radii())]);
    }

    /// Count of labels.
    #[wasm_bindgen(js_name = labelCount)]
    pub fn label_count(&self) -> usize {
        self.list.labels().len()
    }

    /// The text of a label. Leaves its position, its direction, its role and its sRGB colour in the exchange.
    #[wasm_bindgen(js_name = labelAt)]
    pub fn label_at(&self, index: usize, dark: bool) -> String {
        let Some(label) = self.list.labels().get(index) else { return String::new() };
        write(OTHER, &label.at.to_array());
        write(OTHER + 3, &label.away.to_array());
        let role = ROLES.iter().position(|role| *role == label.role).unwrap_or(0);
        let theme = if dark { Theme::Dark } else { Theme::Light };
        let [r, g, b] = theme.color(label.role, label.side, Default::default());
        write(OTHER + 6, &[role as f64, f64::from(u32::from_be_bytes([0, r, g, b]))]);
        self.list.text(label).into()
    }
}

impl RawDrawList {
    /// Adds shapes in the call's colour.
    fn add(&mut self, body: impl FnOnce(&mut DrawList)) {
        let start = self.list.shapes().len();
        body(&mut self.list);
        if let Some(color) = color() {
            self.list.color_from(start, color);
        }
    }
}
