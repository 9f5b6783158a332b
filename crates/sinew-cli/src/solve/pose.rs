//! Solving in pose space, with one chain per goal or a full body: figures from glTF, VRM and BVH, and arms from URDF.

use std::{sync::Arc, time::Instant};

use glam::{DAffine3, DQuat, DVec3, Vec3};
use sinew::{
    Chain, Goal, JointId, Pose, Report, Skeleton, Workspace,
    body::BodyRoles,
    math,
    mechanism::{ChainSkeleton, LinkFrames, Mechanism, position_and_rotation},
};
use sinew_files::{Model, shorten};

use super::{
    Backend, Worker,
    answer::{Answer, JointAnswer, Status},
    any::{AnySolver, FULL_BODY_NEEDS_JOINTS},
    arm,
    goal::{goal, goal_alone, narrow},
    human::HumanFigure,
    look::Seen,
    request::{GoalRequest, Request},
    settings::Settings,
    whole::Whole,
};
use crate::{
    args::SolverName,
    failure::Failure,
    lookup::{self, ends, label, or_list, quoted},
};

/// A model that is solved in pose space.
pub struct Posed {
    name: String,
    skeleton: Arc<Skeleton>,
    settings: Settings,
    /// Root of all chains, if `--chain` gives it.
    root: Option<JointId>,
    /// Tip of goals that name no joint, or the reason why there is no default.
    tip: Result<JointId, String>,
    /// For an arm, the chain of the mechanism that the skeleton is made from.
    arm: Option<ArmChain>,
    /// With `--human`, the body with human limits.
    human: Option<HumanFigure>,
}

/// Chain of an arm as a skeleton.
struct ArmChain {
    mechanism: Mechanism,
    chain: ChainSkeleton,
    root: sinew::mechanism::LinkId,
    tip: sinew::mechanism::LinkId,
}

impl Posed {
    /// The backend of a figure.
    pub fn figure(
        model: &Model,
        chain: Option<&(String, String)>,
        mut settings: Settings,
    ) -> Result<Self, Failure> {
        let mut skeleton = model.skeleton.clone();
        let mut by_role = None;
        if settings.solver == SolverName::LookAt {
            let body = BodyRoles::find(&model.bind_pose(), &model.declared_roles).ok();
            by_role = body.as_ref().and_then(|b| Some((*b.spine.first().or(b.neck.as_ref())?, b.head?)));
            settings.look.seen = Some(Seen::new(model.bind_pose(), body.as_ref()));
        }
        let human = match settings.human {
            true => Some(HumanFigure::new(model, &mut skeleton)?),
            false => None,
        };
        let (root, tip) = match (chain, by_role) {
            (Some((root, tip)), _) => {
                let (root, tip) = (lookup::joint(&skeleton, root)?, lookup::joint(&skeleton, tip)?);
                // Errors that every solve would have are returned before the first.
                let chain = Chain::new(&skeleton, root, tip).map_err(Failure::work)?;
                if settings.solver != SolverName::FullBody {
                    AnySolver::new(&skeleton, chain, &settings).map_err(Failure::Work)?;
                }
                (Some(root), Ok(tip))
            }
            (None, Some((root, head))) => (Some(root), Ok(head)),
            (None, None) => (None, only_end(&skeleton)),
        };
        Ok(Self { name: model.name.clone(), skeleton, settings, root, tip, arm: None, human })
    }

    /// The backend of an arm's chain.
    pub fn arm(
        mechanism: Mechanism,
        chain: Option<&(String, String)>,
        settings: Settings,
    ) -> Result<Self, Failure> {
        if settings.solver == SolverName::LookAt {
            return Err(Failure::Usage("--solver look-at is for figures, not for a .urdf".into()));
        }
        if settings.solver == SolverName::FullBody {
            return Err(Failure::Usage(
                "--solver full-body is for figures; for several goals on a .urdf use --solver lm".into(),
            ));
        }
        let (root, tip) = ends(&mechanism, chain)?;
        let tip = tip.map_err(Failure::Work)?;
        let chain = ChainSkeleton::new(&mechanism, root, tip).map_err(Failure::work)?;
        AnySolver::new(chain.skeleton(), chain.chain().clone(), &settings).map_err(Failure::Work)?;
        Ok(Self {
            name: mechanism.name().into(),
            skeleton: Arc::new(chain.skeleton().clone()),
            settings,
            root: Some(chain.chain().root()),
            tip: Ok(chain.chain().tip()),
            arm: Some(ArmChain { mechanism, chain, root, tip }),
            human: None,
        })
    }

    /// The chain of a goal.
    pub fn chain(&self, goal: &GoalRequest) -> Result<Chain, String> {
        let tip = match (&goal.joint, &self.arm) {
            (None, _) => self.tip.clone()?,
            (Some(name), None) => lookup::joint(&self.skeleton, name).map_err(|e| e.to_string())?,
            (Some(name), Some(arm)) => {
                let link = lookup::link(&arm.mechanism, name)?;
                if link != arm.tip {
                    let tip = quoted(arm.mechanism.link_name(arm.tip));
                    return Err(format!("link {} is not the chain's tip {tip}", quoted(name)));
                }
                self.tip.clone()?
            }
        };
        let root = self.root.unwrap_or_else(|| limb_root(&self.skeleton, tip, self.settings.solver));
        Chain::new(&self.skeleton, root, tip).map_err(|e| e.to_string())
    }

    /// Sets the pose that a request starts at, and returns the values of an arm's joints (empty for a figure).
    fn start(&self, request: &Request, pose: &mut Pose) -> Result<Vec<f64>, String> {
        pose.reset();
        let mut values = Vec::new();
        if let Some(arm) = &self.arm {
            if let Some((name, _)) = request.start_rotations.first() {
                return Err(format!(
                    "start_rotations.{}: an arm's joints have one value each, which start gives",
                    shorten(name)
                ));
            }
            values = arm::start(&arm.mechanism, &request.start)?;
            arm.chain.write(&values, pose).map_err(|e| e.to_string())?;
            for (name, moved) in &request.start_translations {
                arm.move_base(name, narrow("start_translations", *moved)?, pose)?;
            }
            pose.update();
            return Ok(values);
        } else if let Some((name, _)) = request.start.first() {
            let joint = lookup::joint(&self.skeleton, name).map_err(|e| e.to_string())?;
            let name = quoted(self.skeleton.name(joint));
            return Err(format!(
                "start: joint {name} of a figure has a rotation, which start_rotations gives, and no value"
            ));
        }
        if let Some(human) = &self.human {
            pose.copy_from(&human.stands);
        }
        for (name, q) in &request.start_rotations {
            let joint = lookup::joint(&self.skeleton, name).map_err(|e| e.to_string())?;
            pose.set_rotation(joint, math::normalize(DQuat::from_array(*q).as_quat()));
        }
        for (name, at) in &request.start_translations {
            let joint = lookup::joint(&self.skeleton, name).map_err(|e| e.to_string())?;
            pose.set_translation(joint, narrow("start_translations", *at)?);
        }
        pose.update();
        Ok(values)
    }
}

/// The skeleton's only joint without children.
fn only_end(skeleton: &Skeleton) -> Result<JointId, String> {
    let last: Vec<JointId> = skeleton.joints().filter(|&j| skeleton.children(j).next().is_none()).collect();
    match last.as_slice() {
        &[tip] => Ok(tip),
        many => {
            let names: Vec<_> = many.iter().map(|&j| quoted(&label(skeleton, j))).collect();
            Err(format!("the figure has several ends ({}): --chain ROOT..TIP selects one", or_list(&names)))
        }
    }
}

/// Default root of a tip's chain. For a two-bone limb it is two bones above the tip. Otherwise it is the joint below the
/// nearest branch of the skeleton, so that chains of several goals share no joint, but at least one bone above the tip.
fn limb_root(skeleton: &Skeleton, tip: JointId, solver: SolverName) -> JointId {
    let above = |n: usize| skeleton.ancestors(tip).take(n).last().unwrap_or(tip);
    if solver == SolverName::TwoBone {
        return above(2);
    }
    let branches = |j: JointId| skeleton.children(j).nth(1).is_some();
    let own = skeleton.ancestors(tip).take_while(|&j| !branches(j)).count();
    above(own.max(1))
}

impl Backend for Posed {
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(PosedWorker {
            posed: self,
            pose: Pose::rest(&self.skeleton),
            workspace: Workspace::new(),
            solvers: Vec::new(),
            wholes: Vec::new(),
        })
    }

    fn heading(&self) -> String {
        let solver = match self.settings.solver {
            SolverName::TwoBone => "two-bone",
            SolverName::Follow => "follow",
            SolverName::Ccd => "ccd",
            SolverName::Fabrik => "fabrik",
            SolverName::Fold => "fold",
            SolverName::Dls => "dls",
            SolverName::Spline => "spline",
            SolverName::LookAt => "look-at",
            SolverName::FullBody => return format!("{}: full-body", self.name),
            SolverName::Auto | SolverName::Lm => "auto",
        };
        let Ok(tip) = self.tip else { return format!("{}: {solver}", self.name) };
        let root = self.root.unwrap_or_else(|| limb_root(&self.skeleton, tip, self.settings.solver));
        let (ends, count) = match &self.arm {
            Some(arm) => {
                let name = |l| arm.mechanism.link_name(l);
                (format!("{}..{}", name(arm.root), name(arm.tip)), arm.chain.dofs().count())
            }
            None => {
                let name = |j| label(&self.skeleton, j);
                let count = Chain::new(&self.skeleton, root, tip).map_or(0, |c| c.joints().len());
                (format!("{}..{}", name(root), name(tip)), count)
            }
        };
        format!("{}: {ends}, {count} joint{}, {solver}", self.name, if count == 1 { "" } else { "s" })
    }
}

/// Maximum number of cached solvers, one for each chain. More chains in one file of goals are rare.
const MAX_SOLVERS: usize = 16;

/// Worker with a pose and a workspace of its own.
struct PosedWorker<'a> {
    posed: &'a Posed,
    pose: Pose,
    workspace: Workspace,
    solvers: Vec<(Chain, AnySolver)>,
    wholes: Vec<Whole>,
}

impl PosedWorker<'_> {
    /// Index of the chain's solver, which is made if there is none.
    fn solver(&mut self, chain: &Chain) -> Result<usize, String> {
        if let Some(at) = self.solvers.iter().position(|(c, _)| c == chain) {
            return Ok(at);
        }
        let solver = AnySolver::new(&self.posed.skeleton, chain.clone(), &self.posed.settings)?;
        solver.reserve(&mut self.workspace);
        self.solvers.truncate(MAX_SOLVERS - 1);
        self.solvers.push((chain.clone(), solver));
        Ok(self.solvers.len() - 1)
    }
}

/// A goal with its chain.
struct ChainGoal<'a> {
    request: &'a GoalRequest,
    chain: Chain,
    goal: Goal,
}

fn chain_goal<'a>(posed: &Posed, request: &'a GoalRequest) -> Result<ChainGoal<'a>, String> {
    let chain = posed.chain(request)?;
    let mut goal = goal_alone(request)?;
    // The rotation residual is measured against a unit quaternion.
    goal.rotation = goal.rotation.map(math::normalize);
    Ok(ChainGoal { request, chain, goal })
}

/// Returns an error if two goals' chains share a joint: chains are solved one by one, and the second would undo the first.
fn check_disjoint(skeleton: &Skeleton, goals: &[ChainGoal]) -> Result<(), String> {
    let mut taken = vec![false; if goals.len() > 1 { skeleton.len() } else { 0 }];
    if goals.len() > 1 {
        for joint in goals.iter().flat_map(|g| g.chain.joints()) {
            if std::mem::replace(&mut taken[joint.index()], true) {
                let name = quoted(&label(skeleton, *joint));
                return Err(format!(
                    "two goals' chains share joint {name}: each goal needs a chain of its own"
                ));
            }
        }
    }
    Ok(())
}

/// Status of a goal. A position or rotation of influence 0 has no residual.
fn status(mut report: Report, goal: &Goal) -> Status {
    if goal.position_influence == 0.0 {
        report.position_residual = 0.0;
    }
    if goal.rotation_influence == 0.0 {
        report.rotation_residual = 0.0;
    }
    (&report).into()
}

impl Posed {
    /// The pose that a request starts at.
    pub fn begin(&self, request: &Request) -> Result<Pose, String> {
        let mut pose = Pose::rest(&self.skeleton);
        self.start(request, &mut pose)?;
        Ok(pose)
    }

    /// For each goal with a position, its joint's position before the solve and the goal's position, in model space. A goal
    /// relative to a joint is placed by that joint's transform after the solve.
    pub fn goal_positions(
        &self,
        request: &Request,
        before: &Pose,
        after: &Pose,
    ) -> Result<Vec<(Vec3, Vec3)>, String> {
        let mut positions = Vec::new();
        for goal in &request.goals {
            let Some(position) = goal.position else { continue };
            let mut position = narrow("position", position)?;
            if let Some(name) = &goal.relative_to {
                let joint = lookup::joint(&self.skeleton, name).map_err(|e| e.to_string())?;
                position = after.model(joint).transform_point3(position);
            }
            let tip = match &goal.joint {
                Some(name) => lookup::joint(&self.skeleton, name).map_err(|e| e.to_string())?,
                None => self.tip.clone()?,
            };
            positions.push((before.position(tip), position));
        }
        Ok(positions)
    }

    /// Whether a request is solved by the full-body solver: with `--solver full-body`; or with `auto` if it is for a human
    /// figure, if goals' chains share a joint, or if it has a property that only a full body has.
    pub fn as_whole(&self, request: &Request) -> bool {
        if self.arm.is_some() || request.goals.iter().any(|g| g.joint.is_none()) {
            return false;
        }
        match self.settings.solver {
            SolverName::FullBody => true,
            SolverName::Auto if self.human.is_some() => true,
            SolverName::Auto => {
                let goals: Result<Vec<ChainGoal>, String> =
                    request.goals.iter().map(|g| chain_goal(self, g)).collect();
                request.of_whole() || goals.is_ok_and(|g| check_disjoint(&self.skeleton, &g).is_err())
            }
            _ => false,
        }
    }
}

impl PosedWorker<'_> {
    fn solve_whole(&mut self, request: &Request) -> Result<Answer, String> {
        let posed = self.posed;
        let goals = request.goals.iter().map(goal).collect::<Result<Vec<Goal>, _>>()?;
        posed.start(request, &mut self.pose)?;
        let one = Whole::new(&posed.skeleton, posed.root, posed.human.as_ref(), request)?;
        let at = match self.wholes.iter().position(|w| w.serves(&one)) {
            Some(at) => at,
            None => {
                self.wholes.truncate(MAX_SOLVERS - 1);
                self.wholes.push(one);
                self.wholes.len() - 1
            }
        };
        self.wholes[at].solve(&posed.settings, &goals, request, &mut self.workspace, &mut self.pose)
    }
}

impl Worker for PosedWorker<'_> {
    fn solve(&mut self, request: &Request) -> Result<Answer, String> {
        let posed = self.posed;
        if posed.as_whole(request) {
            return self.solve_whole(request);
        }
        if request.of_whole() {
            return Err("priority, relative_to and root are for whole figures: --solver full-body, on goals that name joints".into());
        }
        let limbs = posed.settings.solver == SolverName::TwoBone;
        if posed.settings.solver == SolverName::FullBody || posed.human.is_some() && !limbs {
            return Err(FULL_BODY_NEEDS_JOINTS.into());
        }
        let mut goals: Vec<ChainGoal> =
            request.goals.iter().map(|g| chain_goal(posed, g)).collect::<Result<_, _>>()?;
        check_disjoint(&posed.skeleton, &goals)?;
        // A chain is solved after the chains above it.
        goals.sort_by_key(|g| g.chain.root().index());
        let options = posed.settings.iterative();
        let mut values = posed.start(request, &mut self.pose)?;
        let mut answer = Answer {
            status: Status::default(),
            joints: Vec::new(),
            rotations: Vec::new(),
            translations: Vec::new(),
            position_error: 0.0,
            rotation_error: 0.0,
            iterations: 0,
            restarts: 0,
            micros: 0.0,
        };
        for ChainGoal { chain, goal, request } in &goals {
            let at = self.solver(chain)?;
            let Self { pose, workspace, solvers, .. } = self;
            let solver = &mut solvers[at].1;
            let begin = Instant::now();
            let report = solver.solve(workspace, pose, goal, request.curve.as_ref(), &options)?;
            answer.micros += begin.elapsed().as_secs_f64() * 1e6;
            answer.status = answer.status.worse(status(report, goal));
            answer.iterations += report.iterations;
            if solver.reports_residual() {
                answer.position_error = answer.position_error.max(report.position_residual.into());
                answer.rotation_error = answer.rotation_error.max(report.rotation_residual.into());
            }
            answer.restarts += report.restarts;
        }
        self.pose.update();
        match &posed.arm {
            Some(arm) => {
                let base = arm.answer(&self.pose, &mut values, &mut answer)?;
                for goal in &goals {
                    arm.measure(&base, &values, goal.request, &mut answer)?;
                }
            }
            None => self.rotations(&goals, &mut answer),
        }
        Ok(answer)
    }

    fn pose(&self) -> Option<&Pose> {
        Some(&self.pose)
    }
}

impl PosedWorker<'_> {
    /// Adds the rotations and translations of a figure's chains and the residuals of their tips to the answer.
    fn rotations(&self, goals: &[ChainGoal], answer: &mut Answer) {
        let (skeleton, pose) = (&self.posed.skeleton, &self.pose);
        for ChainGoal { request, chain, goal } in goals {
            let solver = self.solvers.iter().find(|(c, _)| c == chain);
            let others = solver.map_or(Vec::new(), |(c, s)| s.others(c));
            for &joint in chain.joints().iter().chain(&others) {
                let local = pose.local(joint);
                let wide = |x: f32| f64::from(x);
                answer.rotations.push((label(skeleton, joint), local.rotation.to_array().map(wide)));
                if local.translation != skeleton.rest(joint).translation {
                    answer
                        .translations
                        .push((label(skeleton, joint), local.translation.to_array().map(wide)));
                }
            }
            let looks = self.posed.settings.solver == SolverName::LookAt;
            // A position or rotation of weight or influence 0 has no residual.
            if let Some(p) = request.position.filter(|_| !looks && goal.position_influence > 0.0) {
                let off = chain.end(pose).as_dvec3().distance(DVec3::from_array(p));
                answer.position_error = answer.position_error.max(off);
            }
            if let Some(q) = goal.rotation.filter(|_| goal.rotation_influence > 0.0) {
                let off = f64::from(math::angle_between(pose.model_rotation(chain.tip()), q));
                answer.rotation_error = answer.rotation_error.max(off);
            }
        }
    }
}

impl ArmChain {
    /// Displaces the chain's base from its position in the file, in metres, as an earlier `follow` did.
    fn move_base(&self, name: &str, moved: Vec3, pose: &mut Pose) -> Result<(), String> {
        let base = self.mechanism.link_name(self.root);
        let shown = shorten(name);
        if name != base {
            let base = quoted(base);
            return Err(format!(
                "start_translations.{shown}: only the base {base} of an arm can be displaced"
            ));
        }
        let first = self.chain.chain().root();
        if self.slides() {
            let joint = quoted(self.chain.skeleton().name(first));
            return Err(format!(
                "start_translations.{shown}: the base is fixed, as joint {joint} slides; start gives its value"
            ));
        }
        pose.set_translation(first, self.chain.skeleton().rest(first).translation + moved);
        Ok(())
    }

    /// Whether the chain's first joint slides. Its translation is then its value, and not a displacement of the base.
    fn slides(&self) -> bool {
        self.chain.dofs().next().is_some_and(|d| self.mechanism.dofs()[d].slides())
    }

    /// Adds the values of the chain's joints to the answer. Returns the displacement of the chain's base by `follow`, which
    /// is that of its first joint.
    fn answer(&self, pose: &Pose, values: &mut [f64], answer: &mut Answer) -> Result<DAffine3, String> {
        let first = self.chain.chain().root();
        let (was, now) = (self.chain.skeleton().rest(first), pose.local(first));
        self.chain.read(pose, values).map_err(|e| e.to_string())?;
        for d in self.chain.dofs() {
            let dof = &self.mechanism.dofs()[d];
            answer.joints.push(JointAnswer {
                name: dof.name.clone(),
                value: values[d],
                slides: dof.slides(),
                limits: (dof.dof.range.min, dof.dof.range.max),
            });
        }
        if self.slides() || was.translation == now.translation {
            return Ok(DAffine3::IDENTITY);
        }
        let moved = (now.translation - was.translation).as_dvec3();
        answer.translations.push((self.mechanism.link_name(self.root).into(), moved.to_array()));
        Ok(DAffine3::from_translation(moved))
    }

    /// Adds the residuals of the tip to the answer, by the mechanism's forward kinematics.
    fn measure(
        &self,
        base: &DAffine3,
        values: &[f64],
        goal: &GoalRequest,
        answer: &mut Answer,
    ) -> Result<(), String> {
        let mut placement = LinkFrames::new(&self.mechanism);
        self.mechanism.forward_kinematics(values, &mut placement).map_err(|e| e.to_string())?;
        let frame = |link| self.mechanism.link_transform(&placement, link);
        let (at, turned) = position_and_rotation(&(*base * frame(self.root).inverse() * frame(self.tip)));
        if let Some(p) =
            goal.position.filter(|_| goal.position_weight.min(goal.position_influence) as f32 > 0.0)
        {
            answer.position_error = answer.position_error.max(at.distance(DVec3::from_array(p)));
        }
        if let Some(q) =
            goal.rotation.filter(|_| goal.rotation_weight.min(goal.rotation_influence) as f32 > 0.0)
        {
            let off = turned.conjugate() * DQuat::from_array(q);
            let sine = DVec3::new(off.x, off.y, off.z).length();
            answer.rotation_error = answer.rotation_error.max(2.0 * sine.atan2(off.w.abs()));
        }
        Ok(())
    }
}
