//! Arms in joint space.

use sinew::{
    Outcome,
    glam::{DAffine3, DQuat, DVec3},
    joint::Turning,
    mechanism::{
        History, JointSpaceOptions, JointSpaceSolver, JointSpec, LinkFrames, LinkGoal, LinkTarget, Mechanism,
        MechanismBuilder, Mimic,
    },
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    exchange::{OTHER, REPORT, read, with_workspace, write},
    failure::{failure, making, solving},
    joint::read_joint,
};

/// Position, rotation, multiplier and offset of a joint, after its description.
const PLACE: usize = OTHER + 100;

fn vector(at: usize) -> DVec3 {
    DVec3::new(read(at), read(at + 1), read(at + 2))
}

fn rotation(at: usize) -> DQuat {
    DQuat::from_xyzw(read(at), read(at + 1), read(at + 2), read(at + 3))
}

/// A mechanism that is being made.
#[wasm_bindgen]
pub struct RawMechanismBuilder {
    builder: MechanismBuilder,
}

#[wasm_bindgen]
impl RawMechanismBuilder {
    /// Without links.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str) -> Self {
        Self { builder: Mechanism::builder(name) }
    }

    /// Adds a link.
    pub fn link(&mut self, name: &str) {
        self.builder.link(name);
    }

    /// Adds a joint, whose description and place are in the exchange.
    pub fn joint(
        &mut self,
        name: &str,
        parent: &str,
        child: &str,
        mimic: Option<String>,
    ) -> Result<(), JsValue> {
        let spec = JointSpec::new(name, parent, child, read_joint()?);
        self.builder.joint(JointSpec {
            translation: vector(PLACE),
            rotation: rotation(PLACE + 3),
            mimic: mimic.map(|dof| Mimic { dof, multiplier: read(PLACE + 7), offset: read(PLACE + 8) }),
            ..spec
        });
        Ok(())
    }

    /// The mechanism.
    pub fn build(self) -> Result<RawMechanism, JsValue> {
        Ok(RawMechanism::of(self.builder.build().map_err(making)?))
    }
}

/// A tree of links and joints.
#[wasm_bindgen]
pub struct RawMechanism {
    mechanism: Mechanism,
    frames: LinkFrames,
}

impl RawMechanism {
    pub(crate) fn of(mechanism: Mechanism) -> Self {
        Self { frames: LinkFrames::new(&mechanism), mechanism }
    }
}

#[wasm_bindgen]
impl RawMechanism {
    /// Its name.
    #[wasm_bindgen(getter)]
    pub fn name(&self) -> String {
        self.mechanism.name().into()
    }

    /// Count of links.
    #[wasm_bindgen(getter)]
    pub fn links(&self) -> usize {
        self.mechanism.links().len()
    }

    /// Count of degrees of freedom.
    #[wasm_bindgen(getter)]
    pub fn dofs(&self) -> usize {
        self.mechanism.dofs().len()
    }

    /// Name of a link.
    #[wasm_bindgen(js_name = linkName)]
    pub fn link_name(&self, link: usize) -> Option<String> {
        self.mechanism.links().nth(link).map(|link| self.mechanism.link_name(link).into())
    }

    /// Index of the link above; -1 for none.
    #[wasm_bindgen(js_name = linkParent)]
    pub fn link_parent(&self, link: usize) -> i32 {
        let parent = self.mechanism.links().nth(link).and_then(|link| self.mechanism.link_parent(link));
        parent.map_or(-1, |parent| parent.index() as i32)
    }

    /// Name of the joint that moves a link.
    #[wasm_bindgen(js_name = jointName)]
    pub fn joint_name(&self, link: usize) -> Option<String> {
        let link = self.mechanism.links().nth(link)?;
        self.mechanism.joint_name(link).map(Into::into)
    }

    /// Axis of the joint that moves a link, in the link's own space: that of a hinge, or of the first slide; nothing for other joints.
    pub fn axis(&self, link: usize) -> Vec<f64> {
        let joint = self.mechanism.links().nth(link).and_then(|link| self.mechanism.joint(link));
        let axis = joint.and_then(|joint| match &joint.turning {
            Turning::Hinge { axis, .. } => Some(axis.normalize_or_zero()),
            _ => {
                let slide = joint.slide.iter().position(Option::is_some)?;
                Some(joint.slide_axes.col(slide))
            }
        });
        axis.map_or(Vec::new(), |axis| axis.to_array().into())
    }

    /// The degrees of freedom of the joint that moves a link.
    #[wasm_bindgen(js_name = dofsOf)]
    pub fn dofs_of(&self, link: usize) -> Vec<u32> {
        let links = || self.mechanism.links();
        let Some(link) = links().nth(link) else { return Vec::new() };
        let Some(parent) = self.mechanism.link_parent(link) else { return Vec::new() };
        self.mechanism.dofs_between(parent, link).into_iter().map(|dof| dof as u32).collect()
    }

    /// Name of a degree of freedom, whose range, speed, and whether it slides, are left in the exchange.
    #[wasm_bindgen(js_name = dofName)]
    pub fn dof_name(&self, dof: usize) -> Option<String> {
        let named = self.mechanism.dofs().get(dof)?;
        let range = named.dof.range;
        write(OTHER, &[range.min, range.max, named.dof.speed, f64::from(u8::from(named.slides()))]);
        Some(named.name.clone())
    }

    /// Writes the values at rest.
    pub fn rest(&self, values: &mut [f64]) {
        values.copy_from_slice(&self.mechanism.rest());
    }

    /// Brings values into their limits.
    pub fn clamp(&self, values: &mut [f64]) -> Result<(), JsValue> {
        self.mechanism.clamp(values).map_err(solving)
    }

    /// Writes position and rotation of each link, in the space of the root link.
    pub fn forward(&mut self, values: &[f64], out: &mut [f64]) -> Result<(), JsValue> {
        self.mechanism.forward_kinematics(values, &mut self.frames).map_err(solving)?;
        for (link, to) in self.mechanism.links().zip(out.chunks_exact_mut(7)) {
            let at = self.mechanism.link_transform(&self.frames, link);
            let (position, rotation) = sinew::mechanism::position_and_rotation(&at);
            to[..3].copy_from_slice(&position.to_array());
            to[3..].copy_from_slice(&rotation.to_array());
        }
        Ok(())
    }
}

/// Values of a mechanism at which its links are at their goals.
#[wasm_bindgen]
pub struct RawJointSpaceSolver {
    solver: JointSpaceSolver,
    goals: Vec<LinkGoal>,
}

#[wasm_bindgen]
impl RawJointSpaceSolver {
    /// For goals of links: `goals` has the link, the link that its goals are relative to, and the priority of each;
    /// `frames` position and rotation of each in its link.
    #[wasm_bindgen(constructor)]
    pub fn new(mechanism: &RawMechanism, goals: &[u32], frames: &[f64]) -> Result<Self, JsValue> {
        let mechanism = &mechanism.mechanism;
        let link = |index: u32| {
            let missing = || failure("input", format_args!("there is no link {index}"));
            mechanism.links().nth(index as usize).ok_or_else(missing)
        };
        let goals = goals.chunks_exact(3).zip(frames.chunks_exact(7)).map(|(goal, frame)| {
            let (position, turned) = (DVec3::from_slice(frame), DQuat::from_slice(&frame[3..]));
            Ok(LinkGoal::new(mechanism, link(goal[0])?, LinkTarget::Position(DVec3::ZERO))
                .with_relative_to(link(goal[1])?)
                .with_priority(goal[2].min(255) as u8)
                .with_frame(DAffine3::from_rotation_translation(turned, position)))
        });
        let goals = goals.collect::<Result<Vec<_>, JsValue>>()?;
        Ok(Self { solver: JointSpaceSolver::new(mechanism, &goals).map_err(making)?, goals })
    }

    /// Takes a goal: its kind (1 position, 2 rotation, 3 both, 4 look at), position or point, rotation or axis, six weights.
    pub fn goal(&mut self, index: usize) {
        let Some(goal) = self.goals.get_mut(index) else { return };
        let (position, turned) = (vector(OTHER + 1), rotation(OTHER + 4));
        goal.target = match read(OTHER) as u32 {
            1 => LinkTarget::Position(position),
            2 => LinkTarget::Rotation(turned),
            3 => LinkTarget::Pose(position, turned),
            _ => LinkTarget::LookAt(vector(OTHER + 4), position),
        };
        goal.weights = core::array::from_fn(|i| read(OTHER + 8 + i));
    }

    /// Solves for the goals from the values, which receive the answer. The exchange has tolerances of position and rotation,
    /// counts of iterations and restarts (-1 for the solver's own), and whether history counts; it receives the report.
    pub fn solve(&mut self, values: &mut [f64]) -> Result<(), JsValue> {
        let mut options = JointSpaceOptions::new()
            .with_position_tolerance(read(OTHER))
            .with_rotation_tolerance(read(OTHER + 1));
        let count = |at, own| if read(at) >= 0.0 { read(at) as u32 } else { own };
        options.max_iterations = count(OTHER + 2, options.max_iterations);
        options.max_restarts = count(OTHER + 3, options.max_restarts);
        options.history = if read(OTHER + 4) == 0.0 { History::None } else { History::Last };
        let Self { solver, goals } = self;
        let report =
            with_workspace(|workspace| solver.solve(workspace, goals, values, &options)).map_err(solving)?;
        let outcome = match report.outcome {
            Outcome::Converged => 0.0,
            Outcome::Stalled => 1.0,
            _ => 2.0,
        };
        write(
            REPORT,
            &[
                outcome,
                report.out_of_reach,
                f64::from(report.iterations),
                f64::from(report.restarts),
                report.position_residual,
                report.rotation_residual,
                report.position_tolerance,
                report.rotation_tolerance,
                // After a restart the answer may lie anywhere.
                f64::from(u8::from(report.restarts > 0)),
            ],
        );
        Ok(())
    }
}
