//! Constants of the problem, with their sources.

/// Length of the leg for which lengths are given, in metres: a figure of 1.8 m. They scale by the leg.
pub const LEG: f64 = 0.93;

// Tolerances of one sample. Those of accelerations and distances are from planar trials on stairs: hips with larger ones
// leap, knees snap; with smaller ones feet hang over the ground.
/// Acceleration of the hips, in m/s2.
pub const HIPS_ACCELERATION: f64 = 2.0;
/// Distance of the hips from the clip, in metres.
pub const HIPS: f64 = 0.08;
/// Distance of a sole from the clip's moved with the ground, in metres: where the ground changes nothing from stance to stance,
/// and at most. The change is added to the first.
pub const WAY: [f64; 2] = [0.02, 0.2];
/// Distance of a sole from the clip's to the side of its step, in metres: people lift their feet over steps, and do not swing them
/// around. Of 0.5, 1 and 2 cm the most rows for choosing are natural with 1 (`lab/plant`). With [`WAY`] to the side, too, legs
/// swing out by 44 cm on stairs.
pub const ASIDE: f64 = 0.01;
/// Length of the shortest step that has a direction, in metres: kicks and hops come down where they began.
pub const SHORT: f64 = 0.1;
/// Acceleration of thigh, shank, tilt and sole, in rad/s2.
pub const LEG_ACCELERATION: f64 = 40.0;
/// Turn of thigh, shank and tilt from the clip, in radians.
pub const LEG_TURN: f64 = 0.35;
/// Turn of the sole from the clip per metre of the tolerance of its distance, in radians per metre.
pub const SOLE_TURN: f64 = 0.5;
/// Largest accelerations of a walk: of the hips' height over 1/30 s, in m/s2, and of a knee's flexion over 1/60 s, in rad/s2.
/// Clips that accelerate more may be changed the more, as a run is.
pub const WALK: [f64; 2] = [8.0, 250.0];
/// Distance of a ball from its place, in metres.
pub const BALL: f64 = 0.0001;
/// Distance of a heel from its place, in metres: the first to be given up, as heels lift where ankles end.
pub const HEEL: f64 = 0.001;
/// Distance below which an absolute value is rounded, in metres.
pub const ROUND: f64 = 1e-5;
/// Excess of a joint over its range, in radians.
pub const RANGE: f64 = 0.1 * DEGREE;
/// Excess of an ankle over what it bends without strain, in radians.
pub const STRAIN: f64 = 0.5 * DEGREE;
/// Range of the vertical acceleration of the hips: in m/s2, and as a multiple of the clip's 99th percentile. The larger counts. The
/// judge's bounds are 12 and 1.5 (`lab/plant`); half a metre per second squared less leaves room for the excess.
pub const HIPS_RANGE: [f64; 2] = [11.5, 1.5];
/// Excess of the vertical acceleration of the hips over its range, in m/s2. From 0.1 to 0.5 equally many rows for choosing are
/// natural (`lab/plant`), and at 0.25 most hold the bounds of contact. From 1 on, hips exceed 12 m/s2 down steep stairs.
pub const HIPS_EXCESS: f64 = 0.25;
/// Depth of a sole below the ground, in metres.
pub const DEPTH: f64 = 0.001;
/// Displacement of a point beyond which the ground beside it is cast anew, in metres: a tenth of [`DEPTH`]. It is multiplied by
/// the factor of the tolerances ([`LOOSE`]).
pub const MOVED: f64 = 0.1 * DEPTH;
/// Factors of the last four tolerances, in turn.
pub const LOOSE: [f64; 4] = [30.0, 8.0, 3.0, 1.0];
/// Largest number of linearisations for each of them.
pub const ROUNDS: usize = 40;
/// Largest number of dampings tried for one.
pub const TRIES: usize = 8;
/// Share of the cost below which a linearisation's gain ends them. A hundredth of it takes twice as long and lowers the cost
/// of clips on steep stairs by 1 %.
pub const GAIN: f64 = 1e-4;
/// Largest number of corrections of a step with the same factors.
pub const CORRECTIONS: usize = 3;
/// Least share of the weight of an absolute value in the curvature.
pub const CURVATURE: f64 = 0.05;
/// Damping at the start and at least, in shares of the tolerances of distances.
pub const DAMPING: [f64; 2] = [1e-2, 1e-3];
/// Share of a step's gain that a sample may lose on ground that the linearisation did not know, and the factor of its
/// damping where it loses more and the step is refused for it.
pub const REFUSED: [f64; 2] = [0.01, 100.0];

/// Largest step down that lands on the forefoot, as a fraction of the leg: 60 cm for a leg of 0.93 m, above which the judge counts
/// a row as high. Without it, soles of strafing runs pass 5 cm deep through edges of leaps of 2.5 m (`lab/plant`).
pub const LEAP: f32 = 0.65;
/// Longest time from the contact of the heel to that of the ball in a landing, in seconds: people stand flat after 0.1 s. With
/// longer ones, contacts of feet that slide count too, and a third of the contact of a walk with such feet is lost.
pub const ROLL: f32 = 0.1;
/// Pitch down of a sole at a forefoot landing, divided by the time from the ball's contact to the heel's, in radians per second.
/// The sample walk pitches by 22 degrees, for a plantarflexion of 34 degrees on stairs of 18 x 28.5 cm; people have 40 with a
/// standard deviation of 6 (Protopapadaki et al. 2007).
pub const ROLL_RATE: f64 = 250.0 * DEGREE;

pub const DEGREE: f64 = core::f64::consts::PI / 180.0;
/// Dorsiflexion without strain, and its end, in radians, for a clip that bends less.
pub const DORSIFLEXION: [f64; 2] = [25.0 * DEGREE, 34.0 * DEGREE];
/// What an ankle may bend more than the clip's does, in radians.
pub const BEYOND_CLIP: f64 = 8.0 * DEGREE;
/// Least and most flexion of a knee, in radians, for a clip within.
pub const KNEE: [f64; 2] = [5.0 * DEGREE, 109.0 * DEGREE];
/// What a knee may flex more than the clip's does, in radians.
pub const KNEE_BEYOND: f64 = 4.0 * DEGREE;
/// Flexion, abduction and turn of a hip, in radians, and turn up of the toes (American Academy of Orthopaedic Surgeons: Joint
/// Motion, 1965).
pub const HIP: [[f64; 2]; 3] =
    [[-30.0 * DEGREE, 120.0 * DEGREE], [-30.0 * DEGREE, 45.0 * DEGREE], [-45.0 * DEGREE, 45.0 * DEGREE]];
pub const TOES: [f64; 2] = [-45.0 * DEGREE, 70.0 * DEGREE];

/// Time next to a stance, in seconds, in which the required clearance fades to none, and toes to those of the clip.
pub const NEAR: f32 = 0.12;
/// Depth that soles give way next to a stance, in metres.
pub const GIVE: f64 = 0.004;
/// Distance within which a point that stands is put on its place, in metres.
pub const ON_PLACE: f32 = 0.001;
