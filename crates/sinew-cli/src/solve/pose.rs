//! Solving in pose space: one chain a goal, on figures from glTF, VRM and BVH and on arms from URDF.

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
    any::AnySolver,
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

/// A model whose chains are solved by the solvers of pose space.
pub struct Posed {
    name: String,
    skeleton: Arc<Skeleton>,
    settings: Settings,
    /// Where chains begin, if that is said.
    root: Option<JointId>,
    /// The tip of goals that name no joint, or why there is none.
    tip: Result<JointId, String>,
    /// The arm that the skeleton is a chain of.
    arm: Option<ArmChain>,
    /// What makes it human, where it is to be.
    human: Option<HumanFigure>,
}

struct ArmChain {
    mechanism: Mechanism,
    chain: ChainSkeleton,
    root: sinew::mechanism::LinkId,
    tip: sinew::mechanism::LinkId,
}

impl Posed {
    /// For a figure.
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
                // Whatever no solve can mend is told before the first.
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

    /// For a chain of an arm.
    pub fn arm(
        mechanism: Mechanism,
        chain: Option<&(String, String)>,
        settings: Settings,
    ) -> Result<Self, Failure> {
        if settings.solver == SolverName::LookAt {
            return Err(Failure::Usage("--solver look-at is for figures, which have a front".into()));
        }
        if settings.solver == SolverName::FullBody {
            return Err(Failure::Usage(
                "--solver full-body is for figures; an arm's goals go together in joint space".into(),
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

    /// The chain that a goal is for.
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

    /// The pose that a request starts from, and the values of an arm.
    fn start(&self, request: &Request, pose: &mut Pose) -> Result<Vec<f64>, String> {
        pose.reset();
        let mut values = Vec::new();
        if let Some(arm) = &self.arm {
            if let Some((name, _)) = request.start_rotations.first() {
                return Err(format!(
                    "start_rotations.{}: an arm's joints have one value each: see start",
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
            return Err(format!("joint {name} has no single value: see start_rotations"));
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

/// The only joint that carries none.
fn only_end(skeleton: &Skeleton) -> Result<JointId, String> {
    let last: Vec<JointId> = skeleton.joints().filter(|&j| skeleton.children(j).next().is_none()).collect();
    match last.as_slice() {
        &[tip] => Ok(tip),
        many => {
            let names: Vec<_> = many.iter().map(|&j| quoted(&label(skeleton, j))).collect();
            Err(format!("the figure has several ends: --chain ROOT..TIP says which ({})", or_list(&names)))
        }
    }
}

/// Where the chain of a tip begins, if nobody says: two bones above it for the limb of two bones, else below the joint
/// where the skeleton branches (so that chains of several goals share no joint), but one bone above it at the least.
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

/// Solvers are made once for each chain. More chains than this in one file of goals are rare.
const KEPT: usize = 16;

/// One who solves, with a pose to work in.
struct PosedWorker<'a> {
    posed: &'a Posed,
    pose: Pose,
    workspace: Workspace,
    solvers: Vec<(Chain, AnySolver)>,
    wholes: Vec<Whole>,
}

impl PosedWorker<'_> {
    /// The place in the list of the solver for a chain.
    fn solver(&mut self, chain: &Chain) -> Result<usize, String> {
        if let Some(at) = self.solvers.iter().position(|(c, _)| c == chain) {
            return Ok(at);
        }
        let solver = AnySolver::new(&self.posed.skeleton, chain.clone(), &self.posed.settings)?;
        solver.reserve(&mut self.workspace);
        self.solvers.truncate(KEPT - 1);
        self.solvers.push((chain.clone(), solver));
        Ok(self.solvers.len() - 1)
    }
}

/// A goal with its chain.
struct Asked<'a> {
    request: &'a GoalRequest,
    chain: Chain,
    goal: Goal,
}

fn asked<'a>(posed: &Posed, request: &'a GoalRequest) -> Result<Asked<'a>, String> {
    let chain = posed.chain(request)?;
    // Of unit length, as the tip's angle to it is measured.
    let mut goal = goal_alone(request)?;
    goal.rotation = goal.rotation.map(math::normalize);
    Ok(Asked { request, chain, goal })
}

/// An error where two goals would turn the same joint: each chain is solved by itself, and the second would spoil the first.
fn apart(skeleton: &Skeleton, goals: &[Asked]) -> Result<(), String> {
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

/// What became of a goal: what has no weight is not asked for, and so is not missed.
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
    /// The pose that a request starts from.
    pub fn begin(&self, request: &Request) -> Result<Pose, String> {
        let mut pose = Pose::rest(&self.skeleton);
        self.start(request, &mut pose)?;
        Ok(pose)
    }

    /// Each goal's place in model space, those that move with joints as these are after the
    /// solve, with where the joint was before.
    pub fn places(
        &self,
        request: &Request,
        before: &Pose,
        after: &Pose,
    ) -> Result<Vec<(Vec3, Vec3)>, String> {
        let mut places = Vec::new();
        for goal in &request.goals {
            let Some(at) = goal.position else { continue };
            let mut at = narrow("position", at)?;
            if let Some(name) = &goal.relative_to {
                let joint = lookup::joint(&self.skeleton, name).map_err(|e| e.to_string())?;
                at = after.model(joint).transform_point3(at);
            }
            let tip = match &goal.joint {
                Some(name) => lookup::joint(&self.skeleton, name).map_err(|e| e.to_string())?,
                None => self.tip.clone()?,
            };
            places.push((before.position(tip), at));
        }
        Ok(places)
    }

    /// Whether a request is for the figure as a whole: by `--solver full-body`, or where nothing else is said and its goals'
    /// chains would meet, or ask for what only whole figures have.
    pub fn as_whole(&self, request: &Request) -> bool {
        if self.arm.is_some() || request.goals.iter().any(|g| g.joint.is_none()) {
            return false;
        }
        match self.settings.solver {
            SolverName::FullBody => true,
            SolverName::Auto if self.human.is_some() => true,
            SolverName::Auto => {
                let goals: Result<Vec<Asked>, String> =
                    request.goals.iter().map(|g| asked(self, g)).collect();
                request.of_whole() || goals.is_ok_and(|g| apart(&self.skeleton, &g).is_err())
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
                self.wholes.truncate(KEPT - 1);
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
        if posed.settings.solver == SolverName::FullBody || posed.human.is_some() {
            return Err("full-body works on goals that name their joints".into());
        }
        let mut goals: Vec<Asked> =
            request.goals.iter().map(|g| asked(posed, g)).collect::<Result<_, _>>()?;
        apart(&posed.skeleton, &goals)?;
        // What hangs on a chain is solved after it.
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
        for Asked { chain, goal, request } in &goals {
            let at = self.solver(chain)?;
            let Self { pose, workspace, solvers, .. } = self;
            let solver = &mut solvers[at].1;
            let begin = Instant::now();
            let report = solver.solve(workspace, pose, goal, request.curve.as_ref(), &options)?;
            answer.micros += begin.elapsed().as_secs_f64() * 1e6;
            answer.status = answer.status.worse(status(report, goal));
            answer.iterations += report.iterations;
            if solver.knows_best() {
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
    /// The joints of a figure's chains, and how far their ends are off.
    fn rotations(&self, goals: &[Asked], answer: &mut Answer) {
        let (skeleton, pose) = (&self.posed.skeleton, &self.pose);
        for Asked { request, chain, goal } in goals {
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
            // What has no weight or influence is not asked for, and so is not missed.
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
    /// Puts the chain's base, with all that hangs on it, where following has led it before:
    /// this far from where it is in the file.
    fn move_base(&self, name: &str, moved: Vec3, pose: &mut Pose) -> Result<(), String> {
        let base = self.mechanism.link_name(self.root);
        let shown = shorten(name);
        if name != base {
            let base = quoted(base);
            return Err(format!(
                "start_translations.{shown}: of an arm only its base {base} is led elsewhere"
            ));
        }
        let first = self.chain.chain().root();
        if self.slides() {
            let joint = quoted(self.chain.skeleton().name(first));
            return Err(format!(
                "start_translations.{shown}: the base does not move, as {joint} slides: see start"
            ));
        }
        pose.set_translation(first, self.chain.skeleton().rest(first).translation + moved);
        Ok(())
    }

    /// Whether the chain's first joint slides: its place is then its value.
    fn slides(&self) -> bool {
        self.chain.dofs().next().is_some_and(|d| self.mechanism.dofs()[d].slides())
    }

    /// The values of the chain's joints. Gives where the chain's base went, as following moves it: from its
    /// first joint's place to where that is now.
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

    /// How far the tip is off, by the arm's own forward kinematics.
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
