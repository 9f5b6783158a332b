//! Rigs: named handles in order, their goals, and the memory of a figure.

use core::cell::RefCell;
use std::{rc::Rc, sync::Arc};

use sinew::{
    Placement, Pose, Skeleton, Workspace,
    body::BodyRoles,
    glam::Quat,
    ground::plant::Sole,
    rig::{
        EffectorSpec, HandleReport, HandleSolver, HandleSpec, HumanoidSpec, Limbs, Rig, RigDrag, RigFrame,
        RigGoal, RigGrab, RigMatch, RigSpec, RigState, StartFrom,
    },
    solve::RootMode,
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    body::RawEffectors,
    clip::RawClip,
    exchange::{self, OTHER, read, read_f32, read_goal, read_vector, write, write_report},
    failure::{making, solving},
    ground::RawGround,
    plant::{RawFigure, RawFootPlanter, Sampler, read_placement, write_planted},
    pose::{Numbers, RawPose},
    skeleton::RawSkeleton,
    spaces::{read_space, write_space},
    trackers::RawBody,
};

/// First number of a goal's own parts: roll, bank, pivot, turns of root and middle, space, space of the pole.
const PARTS: usize = OTHER;
/// Count of these numbers.
const COUNT_OF_PARTS: usize = 15;

/// The goal in the exchange.
fn read_rig_goal(skeleton: &Skeleton) -> RigGoal {
    let [roll, bank, pivot] = read_f32(PARTS);
    let turn = |at| Quat::from_array(read_f32(at));
    let mut goal = RigGoal::from(read_goal());
    (goal.roll, goal.bank, goal.pivot) = (roll, bank, pivot);
    goal.turns = [turn(PARTS + 3), turn(PARTS + 7)];
    (goal.space, goal.pole_space) = (read_space(skeleton, PARTS + 11), read_space(skeleton, PARTS + 13));
    goal
}

/// Leaves a goal in the exchange.
fn write_rig_goal(goal: &RigGoal) {
    exchange::write_goal(&goal.goal);
    write(PARTS, &[goal.roll, goal.bank, goal.pivot]);
    write(PARTS + 3, &goal.turns[0].to_array());
    write(PARTS + 7, &goal.turns[1].to_array());
    write_space(PARTS + 11, goal.space);
    write_space(PARTS + 13, goal.pole_space);
}

/// A rig that is being described.
#[wasm_bindgen]
pub struct RawRigBuilder {
    skeleton: Arc<Skeleton>,
    body: Option<BodyRoles>,
    spec: RigSpec,
}

#[wasm_bindgen]
impl RawRigBuilder {
    /// Without handles.
    #[wasm_bindgen(constructor)]
    pub fn new(skeleton: &RawSkeleton) -> Self {
        Self { skeleton: skeleton.skeleton.clone(), body: None, spec: RigSpec::default() }
    }

    /// Takes the roles of a figure.
    #[wasm_bindgen(js_name = setBody)]
    pub fn set_body(&mut self, body: &RawBody) {
        self.body = Some(body.roles.clone());
    }

    /// Takes the height of a figure, in metres.
    #[wasm_bindgen(js_name = setHeight)]
    pub fn set_height(&mut self, height: f32) {
        self.spec.height = Some(height);
    }

    /// Adds the handles of a figure with roles.
    pub fn humanoid(&mut self, whole: bool, from: Option<String>) -> Result<(), JsValue> {
        let Some(body) = &self.body else {
            return Err(making("the handles of a humanoid need its body"));
        };
        let mut humanoid = HumanoidSpec::new();
        humanoid.limbs = if whole { Limbs::FullBody } else { Limbs::TwoBone };
        humanoid.from = from.map(|from| start(&from)).transpose()?;
        self.spec.handles.extend(humanoid.rig(body).handles);
        Ok(())
    }

    /// Adds a handle. The exchange has its options, and from `OTHER` on: root, tip, pole (-1 for none), influences of position and
    /// rotation, on, fade, holds, axis (NaN for the default), toes (-1), break angle, heel (NaN), ball, tip of the sole, and the mode of
    /// the root with its spring or position.
    pub fn handle(&mut self, name: &str, solver: &str, from: &str) -> Result<(), JsValue> {
        let joint = |at| self.skeleton.joint_at(read(at) as usize);
        let (Some(root), Some(tip)) = (joint(OTHER), joint(OTHER + 1)) else {
            return Err(making("a joint of the handle's chain is not of the skeleton"));
        };
        let known = |at| (read(at) >= 0.0).then(|| joint(at)).flatten();
        let given = |at| (!read(at).is_nan()).then(|| read_vector(at));
        let mut handle = HandleSpec::new(name, root, tip);
        handle.solver = HandleSolver::from_name(solver)
            .ok_or_else(|| unknown("solver", solver, HandleSolver::ALL.iter().map(|s| s.name())))?;
        handle.from = start(from)?;
        handle.pole = known(OTHER + 2);
        [handle.position_influence, handle.rotation_influence] = read_f32(OTHER + 3);
        handle.on = read(OTHER + 5) != 0.0;
        handle.fade = read(OTHER + 6) as f32;
        handle.holds = read(OTHER + 7) != 0.0;
        handle.axis = given(OTHER + 8);
        handle.foot.toes = known(OTHER + 11);
        handle.foot.break_angle = read(OTHER + 12) as f32;
        handle.foot.sole = given(OTHER + 13).map(|heel| Sole {
            heel,
            ball: read_vector(OTHER + 16),
            tip: read_vector(OTHER + 19),
        });
        handle.root_mode = match read(OTHER + 22) as u32 {
            1 => RootMode::Free,
            2 => RootMode::Spring(read(OTHER + 23) as f32),
            3 => RootMode::At(read_vector(OTHER + 23)),
            _ => RootMode::Pinned,
        };
        handle.options = exchange::read_options().1;
        self.spec.handles.push(handle);
        Ok(())
    }

    /// Sets the colour of the last handle.
    pub fn color(&mut self, red: u8, green: u8, blue: u8) {
        if let Some(handle) = self.spec.handles.last_mut() {
            handle.color = Some([red, green, blue]);
        }
    }

    /// Adds an effector to the last handle. The exchange has its joint, its weights, its priority, and whether it holds its rotation.
    pub fn effector(&mut self, name: Option<String>) -> Result<(), JsValue> {
        let Some(joint) = self.skeleton.joint_at(read(OTHER) as usize) else {
            return Err(making("the effector's joint is not of the skeleton"));
        };
        let mut effector = EffectorSpec::new(joint);
        effector.weights = read_f32(OTHER + 1);
        effector.priority = read(OTHER + 3) as u8;
        effector.holds = read(OTHER + 4) != 0.0;
        effector.name = name;
        if let Some(handle) = self.spec.handles.last_mut() {
            handle.effectors.push(effector);
        }
        Ok(())
    }

    /// Sets the source of the goal of the last effector, or of the last handle. The exchange has its value as a goal, then the joint that
    /// it follows (-1 for none), and whether it follows the rotation too.
    pub fn source(&mut self, valued: bool) {
        let Some(handle) = self.spec.handles.last_mut() else { return };
        let goal = handle.effectors.last_mut().map_or(&mut handle.goal, |effector| &mut effector.goal);
        let mut value = read_rig_goal(&self.skeleton);
        let node = PARTS + COUNT_OF_PARTS;
        goal.space = value.space.take().unwrap_or_default();
        goal.pole_space = value.pole_space.take();
        goal.node = (read(node) >= 0.0).then(|| self.skeleton.joint_at(read(node) as usize)).flatten();
        goal.follows_rotation = read(node + 1) != 0.0;
        if valued {
            goal.value = value;
        }
    }

    /// The rig of a figure with this bind pose.
    pub fn build(self, bind: &mut RawPose) -> Result<RawRig, JsValue> {
        bind.check(&self.skeleton)?;
        bind.pull();
        bind.pose.update();
        let rig = Rig::new(&bind.pose, self.body.as_ref(), &self.spec).map_err(making)?;
        Ok(RawRig::of(rig, self.skeleton))
    }
}

fn start(name: &str) -> Result<StartFrom, JsValue> {
    StartFrom::from_name(name)
        .ok_or_else(|| unknown("start", name, StartFrom::ALL.iter().map(|start| start.name())))
}

fn unknown<'n>(what: &str, given: &str, known: impl Iterator<Item = &'n str>) -> JsValue {
    let known: Vec<_> = known.collect();
    let given: String = given.chars().take(60).collect();
    making(format_args!("there is no {what} {given:?} of a handle: there are {}", known.join(", ")))
}

/// A rig, and the goals of the frame that is being described.
#[wasm_bindgen]
pub struct RawRig {
    pub(crate) rig: Rig,
    /// Out of here while the rig is in use, so that what it calls may describe goals as well.
    goals: RefCell<Vec<RigGoal>>,
    pub(crate) skeleton: Arc<Skeleton>,
}

impl RawRig {
    pub(crate) fn of(rig: Rig, skeleton: Arc<Skeleton>) -> Self {
        let goals = RefCell::new(vec![RigGoal::new(); rig.goal_count()]);
        Self { rig, goals, skeleton }
    }

    /// Runs `body` with the goals, which it has for itself.
    pub(crate) fn with_goals<T>(&self, body: impl FnOnce(&mut Vec<RigGoal>) -> T) -> T {
        let mut goals = self.goals.take();
        let done = body(&mut goals);
        self.goals.replace(goals);
        done
    }
}

#[wasm_bindgen]
impl RawRig {
    /// Names of the handles.
    pub fn handles(&self) -> Vec<String> {
        self.rig.names().map(Into::into).collect()
    }

    /// Solvers of the handles.
    pub fn solvers(&self) -> Vec<String> {
        (0..self.rig.len()).map(|handle| self.rig.solver(handle).name().into()).collect()
    }

    /// Names of the goals.
    #[wasm_bindgen(js_name = goalNames)]
    pub fn goal_names(&self) -> Vec<String> {
        self.rig.goal_names().map(Into::into).collect()
    }

    /// Unsets all goals.
    pub fn clear(&self) {
        self.goals.replace(vec![RigGoal::new(); self.rig.goal_count()]);
    }

    /// Takes the goal in the exchange.
    pub fn goal(&self, index: usize) {
        if let Some(goal) = self.goals.borrow_mut().get_mut(index) {
            *goal = read_rig_goal(&self.skeleton);
        }
    }

    /// Leaves a goal in the exchange.
    #[wasm_bindgen(js_name = leaveGoal)]
    pub fn leave_goal(&self, index: usize) {
        write_rig_goal(self.goals.borrow().get(index).unwrap_or(&RigGoal::new()));
    }

    /// Makes the feet of a planter's figure as the rig has them.
    #[wasm_bindgen(js_name = setLegs)]
    pub fn set_legs(&self, figure: &mut RawFigure) {
        self.rig.set_legs(&mut figure.figure);
    }

    /// Plants the animation from now on.
    #[wasm_bindgen(js_name = setPlanter)]
    pub fn set_planter(&mut self, planter: &RawFootPlanter) -> Result<(), JsValue> {
        self.rig = self.rig.clone().with_planter(planter.planter.clone()).map_err(making)?;
        Ok(())
    }

    /// A fresh state for one figure.
    pub fn state(&self, sampled: &RawPose) -> RawRigState {
        RawRigState {
            state: self.rig.state(),
            workspace: Workspace::new(),
            reports: vec![HandleReport::default(); self.rig.len()],
            sampled: sampled.numbers.clone(),
        }
    }

    /// Solves the handles on the animation's pose. The exchange has the placement.
    pub fn apply(&self, state: &mut RawRigState, pose: &mut RawPose, dt: f32) -> Result<(), JsValue> {
        self.run(state, pose, RigFrame::new(dt))
    }

    /// Plants the animation's pose and solves the handles.
    #[wasm_bindgen(js_name = applyOn)]
    pub fn apply_on(
        &self,
        state: &mut RawRigState,
        pose: &mut RawPose,
        dt: f32,
        ground: &RawGround,
    ) -> Result<(), JsValue> {
        self.run(state, pose, RigFrame::new(dt).with_ground(ground))
    }

    /// The same, where the sampler gives the animation at other times.
    #[wasm_bindgen(js_name = applyWith)]
    pub fn apply_with(
        &self,
        state: &mut RawRigState,
        pose: &mut RawPose,
        dt: f32,
        ground: &RawGround,
        sampler: &Sampler,
    ) -> Result<(), JsValue> {
        let (sampled, failed) = (state.sampled.clone(), RefCell::new(None));
        let placement = read_placement()?;
        let look_ahead = |later: f32, own: &mut Pose| {
            own.skeleton().clone().joints().for_each(|joint| sampled.push(own, joint));
            let placed = sampler.at(later).and_then(|()| read_placement());
            sampled.pull(own);
            placed.unwrap_or_else(|error| {
                failed.borrow_mut().get_or_insert(error);
                Placement::IDENTITY
            })
        };
        let frame = RigFrame::new(dt).with_ground(ground).with_look_ahead(&look_ahead);
        let ran = self.run_placed(state, pose, frame, placement);
        failed.into_inner().map_or(ran, Err)
    }

    /// Brings goals to where a pose has them. The exchange has the placement.
    pub fn read(&self, pose: &mut RawPose) -> Result<(), JsValue> {
        let placement = read_placement()?;
        pose.pull();
        pose.pose.update();
        self.with_goals(|goals| self.rig.read(&pose.pose, &placement, goals)).map_err(solving)
    }

    /// Converts a goal to the spaces in the exchange (of the goal and of its pole), behind the placement.
    pub fn convert(&self, index: usize, pose: &mut RawPose) -> Result<(), JsValue> {
        let placement = read_placement()?;
        let space = |at| read_space(&self.skeleton, OTHER + at).unwrap_or_default();
        let spaces = [space(10), space(12)];
        pose.pull();
        pose.pose.update();
        self.with_goals(|goals| {
            let Some(goal) = goals.get_mut(index) else { return Ok(()) };
            *goal = self.rig.convert(index, goal, spaces, &pose.pose, &placement).map_err(solving)?;
            Ok(())
        })
    }

    /// Matches goals to the pose, or the pose to what the handles make of it, for one handle or all. The exchange has the placement.
    #[wasm_bindgen(js_name = matchUp)]
    pub fn match_up(
        &self,
        state: &mut RawRigState,
        pose: &mut RawPose,
        seconds: f32,
        handle: Option<usize>,
        goals: bool,
    ) -> Result<(), JsValue> {
        let frame = RigFrame::new(0.0).with_placement(read_placement()?);
        pose.check(&self.skeleton)?;
        pose.pull();
        let mut to = RigMatch::new(seconds);
        to.handle = handle;
        let RawRigState { state, workspace, .. } = state;
        let (rig, of) = (&self.rig, &mut pose.pose);
        let matched = self.with_goals(|own| match goals {
            true => rig.match_goals(state, workspace, of, &frame, own, &to),
            false => rig.match_pose(state, workspace, of, &frame.with_goals(own), &to),
        });
        matched.map_err(solving)?;
        self.push(pose);
        Ok(())
    }

    /// What the rig shows of a clip, as a clip. Of each frame, `at` gets the time, and the pose that the state was made with the
    /// animation; it describes the goals.
    pub fn bake(
        &self,
        state: &RawRigState,
        rest: &mut RawPose,
        clip: &RawClip,
        at: &Sampler,
    ) -> Result<RawClip, JsValue> {
        rest.check(&self.skeleton)?;
        rest.pull();
        rest.pose.update();
        let mut failed = None;
        let baked = self.rig.bake(&rest.pose, &clip.clip, |time, pose, goals| {
            if failed.is_none() {
                self.skeleton.joints().for_each(|joint| state.sampled.push(pose, joint));
                failed = at.at(time).err();
                goals.iter_mut().zip(&*self.goals.borrow()).for_each(|(to, from)| *to = *from);
            }
        });
        match failed {
            Some(error) => Err(error),
            None => baked.map_err(solving).map(|baked| RawClip::of(baked.clip, &self.skeleton)),
        }
    }
}

impl RawRig {
    fn run(&self, state: &mut RawRigState, pose: &mut RawPose, frame: RigFrame<'_>) -> Result<(), JsValue> {
        let placement = read_placement()?;
        self.run_placed(state, pose, frame, placement)
    }

    fn run_placed(
        &self,
        state: &mut RawRigState,
        pose: &mut RawPose,
        frame: RigFrame<'_>,
        placement: Placement,
    ) -> Result<(), JsValue> {
        pose.check(&self.skeleton)?;
        pose.pull();
        let RawRigState { state, reports, workspace, .. } = state;
        let planted = self.with_goals(|goals| {
            let frame = frame.with_goals(goals).with_placement(placement);
            let applied = self.rig.apply(state, workspace, &mut pose.pose, &frame).map_err(solving)?;
            reports.copy_from_slice(applied.handles);
            Ok::<_, JsValue>(applied.planted)
        })?;
        self.push(pose);
        write_planted(&planted.unwrap_or_default());
        Ok(())
    }

    /// Gives the joints that the rig may move to JavaScript.
    fn push(&self, pose: &RawPose) {
        self.rig.joints().iter().for_each(|&joint| pose.push(joint));
    }
}

/// The memory of one figure.
#[wasm_bindgen]
pub struct RawRigState {
    state: RigState,
    /// Its own: a sampler may solve with the one of all solvers.
    workspace: Workspace,
    reports: Vec<HandleReport>,
    pub(crate) sampled: Rc<Numbers>,
}

#[wasm_bindgen]
impl RawRigState {
    /// Switches a handle on or off.
    #[wasm_bindgen(js_name = setOn)]
    pub fn set_on(&mut self, handle: usize, on: bool) {
        self.state.set_on(handle, on);
    }

    /// Whether a handle is on.
    #[wasm_bindgen(js_name = isOn)]
    pub fn is_on(&self, handle: usize) -> bool {
        self.state.is_on(handle)
    }

    /// Sets the contact of a foot; NaN detects it.
    #[wasm_bindgen(js_name = setContact)]
    pub fn set_contact(&mut self, leg: usize, contact: f32) -> Result<(), JsValue> {
        let Some(feet) = self.state.feet_mut() else {
            return Err(making("the rig has no planter"));
        };
        feet.set_contact(leg, (!contact.is_nan()).then_some(contact)).map_err(solving)
    }

    /// Forgets the last frame.
    pub fn reset(&mut self) {
        self.state.reset();
    }

    /// Leaves the report of a handle in the exchange: whether its goal was set, its fade, its influences, the local turns beside it.
    pub fn report(&self, handle: usize) {
        let own = self.reports.get(handle).copied().unwrap_or_default();
        write_report(&own.report);
        let [position, rotation] = own.influence;
        let set = f32::from(u8::from(own.is_set));
        write(OTHER, &[set, own.fade, position, rotation, own.residual_turn, own.residual_refused]);
    }
}

/// A drag of a joint of a rigged figure.
#[wasm_bindgen]
pub struct RawRigDrag {
    drag: RigDrag,
}

#[wasm_bindgen]
impl RawRigDrag {
    /// Grabs the one effector of a list, in what the rig shows of the animation's pose and its goals. The exchange has the placement.
    #[wasm_bindgen(constructor)]
    pub fn new(
        rig: &RawRig,
        state: &mut RawRigState,
        animation: &mut RawPose,
        grabbed: &RawEffectors,
        root: Option<u32>,
    ) -> Result<Self, JsValue> {
        let placement = read_placement()?;
        animation.pull();
        animation.pose.update();
        let Some(&grabbed) = grabbed.effectors.first() else {
            return Err(making("a drag needs an effector"));
        };
        let mut grab = RigGrab::new(grabbed.joint).with_grabbed(grabbed);
        grab.root = root.and_then(|root| animation.pose.skeleton().joint_at(root as usize));
        let RawRigState { state, workspace, .. } = state;
        let drag = rig.with_goals(|goals| {
            let frame = RigFrame::new(0.0).with_goals(goals).with_placement(placement);
            rig.rig.grab(state, workspace, &animation.pose, &frame, &grab)
        });
        let drag = drag.map_err(solving)?;
        Ok(Self { drag })
    }

    /// Moves what is grabbed to the goal in the exchange, and leaves the report.
    pub fn to(&mut self, state: &mut RawRigState, dt: f32) -> Result<(), JsValue> {
        let goal = read_goal();
        let RawRigState { state, workspace, .. } = state;
        let report = self.drag.to(state, workspace, &goal, dt).map_err(solving)?;
        write_report(&report);
        Ok(())
    }

    /// Brings poses to what is shown and to the animation that is kept.
    pub fn show(&self, pose: &mut RawPose, animation: &mut RawPose) {
        for (to, from) in [(pose, self.drag.pose()), (animation, self.drag.animation())] {
            to.pose.copy_from(from);
            to.push_all();
        }
    }

    /// Leaves a goal of the rig, as the drag has moved it, in the exchange.
    #[wasm_bindgen(js_name = leaveGoal)]
    pub fn leave_goal(&self, index: usize) {
        write_rig_goal(self.drag.goals().get(index).unwrap_or(&RigGoal::new()));
    }
}
