//! Handles built from their specification, and refused.

use alloc::{sync::Arc, vec::Vec};

use glam::{Quat, Vec3};

use super::{Handle, Method, Source};
use crate::{
    Chain, Goal, JointId, Pose, Report, Skeleton, SolveError, Workspace,
    body::BodyRoles,
    joint::{Attribute, Attributes, UnsupportedAttribute},
    math,
    rig::{
        EffectorSpec, FootSpec, GoalSpec, HandleFault, HandleSolver, HandleSpec, StartFrom,
        foot::Foot,
        joint_space::JointSpace,
        precedence::{at_level, precedences},
        preferred::{self, Human},
        space::Spaces,
    },
    solve::{
        Aim, Auto, Ccd, ChainSolver, DampedLeastSquares, Effector, Fabrik, Fold, Follow, FullBody,
        IterativeOptions, LimbOptions, LookAt, LookJoint, Options, RootMode, Spline, TwoBone,
        spline::{Curve, CurveKind, CurveUp},
    },
};

fn range(what: &'static str, range: &'static str, value: f32, max: f32) -> Result<(), HandleFault> {
    match (0.0..=max).contains(&value) {
        true => Ok(()),
        false => Err(HandleFault::OutOfRange { what, range, value }),
    }
}

/// Checks numbers and settings that do not fit the solver.
fn check(spec: &HandleSpec) -> Result<(), HandleFault> {
    use HandleSolver::{Aim, Follow, Foot, FullBody, JointSpace, LookAt, Place, Spline, Twist};
    range("the position influence", "0 to 1", spec.position_influence, 1.0)?;
    range("the rotation influence", "0 to 1", spec.rotation_influence, 1.0)?;
    range("the fade in seconds", "0 or more", spec.fade, f32::MAX)?;
    spec.options.check().map_err(HandleFault::Options)?;
    let solver = spec.solver;
    let rule = |rule| Err(HandleFault::Setting { solver, rule });
    let several = matches!(solver, FullBody | Spline);
    if several == spec.effectors.is_empty() {
        return rule(if several { "needs effectors" } else { "has one goal, and no effectors" });
    }
    if several && spec.goal != GoalSpec::default() {
        return rule("has goals of its effectors, and none of its own");
    }
    if spec.pole.is_some()
        && matches!(solver, Follow | Spline | LookAt | FullBody | JointSpace | Twist | Place)
    {
        return rule("has no pole");
    }
    if spec.axis.is_some() && !matches!(solver, Aim | LookAt) {
        return rule("has no axis");
    }
    if spec.foot != FootSpec::default() && solver != Foot {
        return rule("has no sole");
    }
    if solver == Aim && spec.root != spec.tip {
        return rule("turns one joint: root and tip must be the same");
    }
    if solver == Twist && spec.from == StartFrom::Last {
        let allowed = "`pose` or `preferred`";
        return Err(HandleFault::Start { solver, allowed, from: spec.from });
    }
    if spec.root_mode != RootMode::Pinned && solver != FullBody {
        return rule("has no mode of its root");
    }
    if solver == Place && spec.root != spec.tip {
        return rule("puts one joint at its goal: root and tip must be the same");
    }
    if solver == Place && spec.from != StartFrom::Pose {
        return Err(HandleFault::Start { solver, allowed: "`pose`", from: spec.from });
    }
    if spec.holds && several {
        return rule("holds nothing: its unset effectors stay by themselves");
    }
    for goal in [&spec.goal].into_iter().chain(spec.effectors.iter().map(|e| &e.goal)) {
        goal.value.check().map_err(HandleFault::Goal)?;
        if goal.value.space.is_some() || goal.value.pole_space.is_some() {
            return rule("has the spaces of its goal beside the goal's value, not in it");
        }
    }
    if spec.options.max_turn < f32::INFINITY && spec.from == StartFrom::Preferred {
        return rule("has no bound on turns from `preferred`, which has no turn from frame to frame");
    }
    let rotates = spec.goal.follows_rotation;
    if rotates && matches!(solver, Follow | Spline | LookAt | Aim) {
        return rule("has no rotation");
    }
    if rotates && spec.goal.node.is_none() {
        return rule("follows the rotation of a node, but has no node");
    }
    Ok(())
}

/// The joint of a chain that is nearest to half its length at bind.
fn middle(bind: &Pose, chain: &Chain) -> JointId {
    let joints = chain.joints();
    let half = 0.5 * chain.length(bind);
    let mut at = 0.0;
    let mut best = (f32::INFINITY, chain.tip());
    for w in joints.windows(2) {
        at += bind.position(w[1]).distance(bind.position(w[0]));
        if w[1] != chain.tip() && (at - half).abs() < best.0 {
            best = ((at - half).abs(), w[1]);
        }
    }
    best.1
}

/// The limb along a chain. `rotates` where its goal always has a rotation.
fn limb(bind: &Pose, chain: &Chain, rotates: bool) -> Result<Arc<dyn ChainSolver>, HandleFault> {
    let (skeleton, middle) = (bind.skeleton(), middle(bind, chain));
    let limited = |j| skeleton.joint(j).attributes() != Attributes::NONE;
    let limb = match limited(chain.root()) || limited(middle) {
        true => TwoBone::within_limits(skeleton, chain.clone(), middle)?,
        false => TwoBone::from_chain(skeleton, chain.clone(), middle)?,
    };
    if rotates {
        let goal = Goal::position(Vec3::ZERO).with_rotation(Quat::IDENTITY);
        honoured(limb.solve(&mut bind.clone(), &goal, &LimbOptions::new()))?;
    }
    Ok(Arc::new(limb))
}

/// Refuses joints that a solver cannot honour, and that it checks as it solves, by a trial at bind.
fn honoured(trial: Result<Report, SolveError>) -> Result<(), HandleFault> {
    match trial {
        Err(SolveError::Joint(error)) => Err(error.into()),
        _ => Ok(()),
    }
}

/// The skeleton without preferred values of these joints, for solvers that have no use for them. The rig itself starts from them.
fn without_preferred(skeleton: &Skeleton, joints: &[JointId]) -> Result<Skeleton, HandleFault> {
    let mut plain = skeleton.clone();
    for &j in joints {
        let mut joint = *skeleton.joint(j);
        joint.each_dof(|dof| dof.preferred = None);
        plain.set_joint(j, joint)?;
    }
    Ok(plain)
}

/// Checks damping and springs, which a rig takes up for some solvers.
fn check_timed(skeleton: &Skeleton, spec: &HandleSpec, joints: &[JointId]) -> Result<(), HandleFault> {
    for &j in joints {
        let joint = skeleton.joint(j);
        let has = |a| joint.attributes().has(a);
        let several = joint.dofs().count() > 1;
        if has(Attribute::Spring) && (several || spec.solver == HandleSolver::LeastSquares) {
            // A spring of joint space is a goal of the joint's link.
            let (joint, solver) = (skeleton.name(j).into(), if several { "joint space" } else { "dls" });
            return Err(UnsupportedAttribute { joint, attribute: Attribute::Spring, solver }.into());
        }
        if spec.from != StartFrom::Last && (has(Attribute::Spring) || has(Attribute::Damping)) {
            return Err(HandleFault::NeedsLast { joint: skeleton.name(j).into(), from: spec.from });
        }
    }
    Ok(())
}

/// Whether a method takes the rotation of its tip: some solvers refuse one where the tip has limits.
fn rotates(bind: &Pose, chain: &Chain, method: &Method) -> bool {
    let goal = Goal::rotation(bind.model_rotation(chain.tip()));
    let (mut workspace, mut pose) = (Workspace::new(), bind.clone());
    let options = IterativeOptions::new();
    let trial = match method {
        Method::Chain(solver) => solver.solve(&mut workspace, &mut pose, &goal, &options),
        Method::Levels(levels) => match levels.first() {
            Some((_, solver)) => solver.solve(&mut workspace, &mut pose, &goal, &options),
            None => return false,
        },
        Method::JointSpace(_) | Method::FullBody(_) | Method::Foot(_) | Method::Place => return true,
        _ => return false,
    };
    !matches!(trial, Err(SolveError::Joint(_)))
}

impl Handle {
    pub fn new(
        bind: &Pose,
        body: Option<&BodyRoles>,
        human: &Human,
        spaces: &Spaces,
        spec: &HandleSpec,
        first: usize,
    ) -> Result<Self, HandleFault> {
        check(spec)?;
        let skeleton = bind.skeleton();
        let chain = Chain::new(skeleton, spec.root, spec.tip)?;
        let front = body.map_or(Vec3::Z, |body| body.front(bind));
        let local = |v| math::rotate(math::conjugate(bind.model_rotation(spec.tip)), v);
        let axis = spec.axis.unwrap_or_else(|| local(front));
        // The joint of the same full body in whose space a goal is.
        let relative = |goal: &GoalSpec| {
            let joint = spaces.find(goal.space, skeleton)?.joint();
            let whole = spec.solver == HandleSolver::FullBody;
            Ok::<_, HandleFault>(joint.filter(|&j| whole && skeleton.is_below(j, spec.root)))
        };
        let mut joints = chain.joints().to_vec();
        let last = joints.len() - 1;
        let (mut inner, mut tip) = (0..last, None);
        let method = match spec.solver {
            HandleSolver::Auto => Method::Chain(Arc::new(Auto::from_chain(skeleton, chain.clone())?)),
            HandleSolver::Ccd => Method::Chain(Arc::new(Ccd::from_chain(skeleton, chain.clone())?)),
            HandleSolver::Fabrik => Method::Chain(Arc::new(Fabrik::from_chain(skeleton, chain.clone())?)),
            HandleSolver::Fold => Method::Chain(Arc::new(Fold::from_chain(skeleton, chain.clone())?)),
            HandleSolver::TwoBone => Method::Chain(limb(bind, &chain, spec.goal.follows_rotation)?),
            HandleSolver::LeastSquares => {
                check_timed(skeleton, spec, &joints)?;
                let all = precedences(skeleton, &joints);
                let level = |(n, &level): (usize, &i32)| {
                    let mut held = Skeleton::clone(skeleton);
                    for &j in &joints {
                        let joint = at_level(skeleton.joint(j), level, n + 1 < all.len());
                        held.set_joint(j, joint)?;
                    }
                    Ok((level, DampedLeastSquares::from_chain(&held, chain.clone())?))
                };
                let levels: Vec<_> = all.iter().enumerate().map(level).collect::<Result<_, HandleFault>>()?;
                Method::Levels(levels)
            }
            HandleSolver::JointSpace => {
                check_timed(skeleton, spec, &joints)?;
                Method::JointSpace(JointSpace::new(bind, &chain)?)
            }
            HandleSolver::Follow => {
                let plain = without_preferred(skeleton, &joints)?;
                Method::Follow(Follow::from_chain(&plain, chain.clone())?)
            }
            HandleSolver::Spline => {
                let points: Vec<_> = spec.effectors.iter().map(|e| bind.position(e.joint)).collect();
                let up = CurveUp::Direction(Vec3::Y);
                let curve = Curve::new(CurveKind::CatmullRom, &points, false, up)?;
                let plain = without_preferred(skeleton, &joints)?;
                Method::Spline(Spline::from_chain(&plain, chain.clone())?, curve)
            }
            HandleSolver::LookAt => {
                let share =
                    |(n, &j): (usize, &JointId)| LookJoint::new(j).with_share(1.0 / (last + 1 - n) as f32);
                let line: Vec<_> = joints.iter().enumerate().map(share).collect();
                inner = 0..last + 1;
                Method::LookAt(LookAt::new(&without_preferred(skeleton, &joints)?, &line, axis)?)
            }
            HandleSolver::Aim => {
                if !axis.is_finite() || axis == Vec3::ZERO {
                    return Err(HandleFault::Setting {
                        solver: spec.solver,
                        rule: "needs an axis with a direction",
                    });
                }
                let aim = Aim::new(spec.tip, axis);
                honoured(aim.solve(&mut bind.clone(), Vec3::ZERO, &Options::new()))?;
                inner = 0..1;
                Method::Aim(aim, local(Vec3::Y))
            }
            HandleSolver::FullBody => {
                let effector = |e: &EffectorSpec| {
                    let relative_to = relative(&e.goal)?;
                    let (priority, [position_weight, rotation_weight]) = (e.priority, e.weights);
                    let plain = Effector::new(e.joint);
                    Ok(Effector { priority, relative_to, position_weight, rotation_weight, ..plain })
                };
                let effectors: Vec<_> =
                    spec.effectors.iter().map(effector).collect::<Result<_, HandleFault>>()?;
                let body = FullBody::new(skeleton, spec.root, &effectors)?;
                joints = body.joints().collect();
                inner = 0..joints.len();
                Method::FullBody(body)
            }
            HandleSolver::Foot => {
                let foot = Foot::new(bind, &chain, limb(bind, &chain, true)?, &spec.foot, front)?;
                joints.extend(foot.toes);
                Method::Foot(foot)
            }
            HandleSolver::Twist => {
                if last < 2 {
                    let rule = "needs joints between root and tip";
                    return Err(HandleFault::Setting { solver: spec.solver, rule });
                }
                inner = 1..last;
                Method::Twist
            }
            HandleSolver::Place => {
                (inner, tip) = (0..1, Some(0));
                Method::Place
            }
        };
        if !matches!(spec.solver, HandleSolver::FullBody) && inner.end <= last {
            let rotates = !matches!(spec.solver, HandleSolver::Follow | HandleSolver::Spline);
            tip = rotates.then_some(last);
        }
        let pole = spec.pole.map(|j| bind.position(j));
        let mut start = preferred::pose(bind, &chain, human, pole.map(|p| p - bind.position(spec.root)));
        for e in spec.effectors.iter().filter(|_| spec.solver == HandleSolver::FullBody) {
            start = preferred::pose(&start, &Chain::new(skeleton, spec.root, e.joint)?, human, None);
        }
        let swivel = pole.map_or(0.0, |p| preferred::swivel(bind, &start, &chain, p));
        let source = |joint, goal: &GoalSpec, pole, swivel, (name, holds)| {
            let space = spaces.find(goal.space, skeleton)?;
            let pole_space = spaces.find(goal.pole_space.unwrap_or(goal.space), skeleton)?;
            let at_bind = spaces.rotation_at_bind(bind, joint);
            let mut offset = (Vec3::ZERO, Quat::IDENTITY);
            if let Some(node) = goal.node {
                let back = bind.model(node).inverse();
                offset.0 = back.transform_point3(bind.position(joint));
                offset.1 = math::mul(math::conjugate(bind.model_rotation(node)), bind.model_rotation(joint));
                if !offset.0.is_finite() {
                    return Err(HandleFault::Flat { joint: skeleton.name(node).into() });
                }
            }
            let relative = relative(goal)?;
            Ok(Source {
                joint,
                name,
                holds,
                spec: *goal,
                space,
                pole_space,
                pole,
                at_bind,
                offset,
                swivel,
                relative,
            })
        };
        let sources: Vec<Source> = match spec.effectors.as_slice() {
            [] => alloc::vec![source(spec.tip, &spec.goal, spec.pole, swivel, (None, false))?],
            all => all
                .iter()
                .map(|e| source(e.joint, &e.goal, None, 0.0, (e.name.clone(), e.holds)))
                .collect::<Result<_, _>>()?,
        };
        let preferred = joints.iter().map(|&j| *start.local(j)).collect();
        let nearest = |n: usize| joints[..n].iter().rposition(|&a| skeleton.is_below(joints[n], a));
        let above = (0..joints.len()).map(nearest).collect();
        let limb = matches!(spec.solver, HandleSolver::TwoBone | HandleSolver::Foot);
        let middle = limb.then(|| middle(bind, &chain));
        let middle = middle.and_then(|m| chain.joints().iter().position(|&j| j == m));
        let bend_axis = middle.and_then(|m| preferred::bend_axis(bind, &chain, m, human));
        let poleless = spec.solver == HandleSolver::TwoBone && spec.from == StartFrom::Preferred;
        let bends_at = middle.filter(|_| poleless).map(|n| chain.joints()[n]);
        let ranges = bends_at.and_then(|m| human.arm(skeleton, [spec.root, m, spec.tip]));
        let rotates = rotates(bind, &chain, &method);
        let share = spec.options.influence;
        let this = Self {
            name: spec.name.clone(),
            color: spec.color,
            solver: spec.solver,
            from: spec.from,
            chain,
            method,
            joints,
            above,
            inner,
            tip,
            preferred,
            middle,
            bend_axis,
            ranges,
            axis,
            rotates,
            sources,
            first,
            influence: [spec.position_influence * share, spec.rotation_influence * share],
            on: spec.on,
            fade: spec.fade,
            holds: spec.holds,
            root_mode: spec.root_mode,
            options: IterativeOptions { influence: 1.0, ..spec.options },
        };
        let unused = this.sources.iter().find_map(|source| this.unused(&source.spec.value));
        match unused {
            Some(what) => Err(HandleFault::Unused { solver: spec.solver, what }),
            None => Ok(this),
        }
    }
}
