//! Creatures, grounds and runs that are judged.

/// A creature, with constants that the judge takes from nobody.
pub struct Creature {
    /// Name in the tables.
    pub name: &'static str,
    /// File in the data's folder `gltf`; none for the built-in one.
    pub file: Option<&'static str>,
    /// Length of a leg, in metres.
    pub leg: f64,
    /// First and last joint of each leg, without its side: from front to rear.
    pub legs: &'static [(&'static str, &'static str)],
    /// Ends of names on the left and the right, where they are no prefix.
    pub sides: [&'static str; 2],
    /// Joint of the trunk.
    pub trunk: &'static str,
    /// Fewest feet that stand.
    pub down: usize,
    /// Whether the command is given the legs.
    pub given: bool,
}

/// Legs of the built-in creature, on one side.
const LEGS: [(&str, &str); 4] = [
    ("leg_1_coxa_*", "leg_1_tip_*"),
    ("leg_2_coxa_*", "leg_2_tip_*"),
    ("leg_3_coxa_*", "leg_3_tip_*"),
    ("leg_4_coxa_*", "leg_4_tip_*"),
];

/// The built-in creature. `leg` is the mean length of its legs, bone by bone.
const fn built_in(name: &'static str, leg: f64, legs: &'static [(&'static str, &'static str)]) -> Creature {
    Creature {
        name,
        file: None,
        leg,
        legs,
        sides: ["l", "r"],
        trunk: "trunk",
        down: legs.len(),
        given: false,
    }
}

/// All creatures.
pub const CREATURES: [Creature; 6] = [
    Creature {
        name: "spider",
        file: Some("m2m_spider-animations.glb"),
        leg: 1.7,
        legs: &[
            ("legs_anchor_1_*", "leg_a_tip_*"),
            ("legs_anchor_2_*", "leg_b_tip_*"),
            ("legs_anchor_3_*", "leg_c_tip_*"),
            ("legs_anchor_4_*", "leg_d_tip_*"),
        ],
        sides: ["l", "r"],
        trunk: "spine_1",
        down: 4,
        given: false,
    },
    Creature {
        name: "horse",
        file: Some("m2m_horse-animations.glb"),
        leg: 1.2,
        legs: &[("front_humerus_*", "front_leg_leaf_*"), ("back_leg_upper_*", "back_leg_leaf_*")],
        sides: ["l", "r"],
        trunk: "spine_2",
        down: 2,
        given: true,
    },
    Creature {
        name: "fox",
        file: Some("Fox.glb"),
        leg: 51.0,
        legs: &[("b_*UpperArm", "b_*Hand"), ("b_*Leg01", "b_*Foot02")],
        sides: ["Left", "Right"],
        trunk: "b_Spine01_02",
        down: 2,
        given: false,
    },
    built_in("six legs", 1.06, LEGS.split_at(3).0),
    built_in("four legs", 1.09, LEGS.split_at(2).0),
    built_in("eight legs", 1.06, &LEGS),
];

/// What a creature is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// Once round a circle of this radius about the ground's middle, at a speed in legs a second.
    Circle(f64, f64),
    /// Speeds ahead and to the left in legs a second, and a turn in rad/s.
    Steady(f64, f64, f64),
    /// The same, two seconds on and two seconds off.
    StopAndGo(f64),
    /// Velocities up to a speed in legs a second, and turns, that change every half second.
    Random(f64),
}

/// A run.
pub struct Run {
    /// Name in the tables.
    pub name: &'static str,
    /// The ground's name, or a file of the data.
    pub ground: &'static str,
    /// The order.
    pub order: Order,
    /// Seconds.
    pub seconds: f64,
    /// Creatures, by name; all where empty.
    pub of: &'static [&'static str],
}

const fn run(
    name: &'static str,
    ground: &'static str,
    order: Order,
    seconds: f64,
    of: &'static [&'static str],
) -> Run {
    Run { name, ground, order, seconds, of }
}

const ANIMALS: &[&str] = &["spider", "horse", "fox"];
const BUILT_IN: &[&str] = &["four legs", "six legs", "eight legs"];

/// All runs.
pub const RUNS: [Run; 20] = [
    run("terrain, round", "terrain_bevy.glb", Order::Circle(10.0, 0.5), 75.0, &["spider"]),
    run("rough, ahead", "rough", Order::Steady(1.0, 0.0, 0.0), 10.0, &["horse"]),
    run("rough, ahead", "rough", Order::Steady(1.2, 0.0, 0.0), 10.0, &["fox"]),
    run("rough, turning", "rough", Order::Steady(1.0, 0.0, 0.3), 10.0, &["horse"]),
    run("rough, turning", "rough", Order::Steady(1.2, 0.0, 0.3), 10.0, &["fox"]),
    run("flat", "flat", Order::Steady(0.5, 0.0, 0.0), 10.0, ANIMALS),
    run("stairs up", "stairs", Order::Steady(0.5, 0.0, 0.0), 10.0, ANIMALS),
    run("stairs down", "stairs-down", Order::Steady(0.5, 0.0, 0.0), 10.0, ANIMALS),
    run("slope up", "slope", Order::Steady(0.5, 0.0, 0.0), 10.0, ANIMALS),
    run("slope down", "slope-down", Order::Steady(0.5, 0.0, 0.0), 10.0, ANIMALS),
    run("flat, slowly", "flat", Order::Steady(0.3, 0.0, 0.0), 10.0, BUILT_IN),
    run("tight turn", "flat", Order::Steady(0.5, 0.0, 0.9), 10.0, BUILT_IN),
    run("slope, turning", "slope", Order::Steady(0.5, 0.0, 0.2), 10.0, BUILT_IN),
    run("sideways", "flat", Order::Steady(0.0, 0.3, 0.0), 10.0, &[]),
    run("backwards", "flat", Order::Steady(-0.3, 0.0, 0.0), 10.0, &[]),
    run("on the spot", "flat", Order::Steady(0.0, 0.0, 0.5), 10.0, &[]),
    run("stop and go", "flat", Order::StopAndGo(0.3), 10.0, &[]),
    run("rough, random", "rough", Order::Random(0.5), 60.0, &[]),
    run("stopped uphill", "slope", Order::Steady(0.5, 0.0, 0.0), -16.0, ANIMALS),
    run("terrain, wide", "terrain_bevy.glb", Order::Circle(17.5, 0.5), 60.0, &["spider"]),
];

impl Order {
    /// Commands over time: second, ahead, left (m/s), turn (rad/s). None for a circle.
    pub fn commands(&self, leg: f64, seconds: f64) -> Option<Vec<[f64; 4]>> {
        Some(match *self {
            Self::Circle(..) => return None,
            // Negative seconds: it walks for six and stands for the rest.
            Self::Steady(a, l, t) if seconds < 0.0 => {
                vec![[0.0, a * leg, l * leg, t], [6.0, 0.0, 0.0, 0.0]]
            }
            Self::Steady(a, l, t) => vec![[0.0, a * leg, l * leg, t]],
            Self::StopAndGo(a) => (0..(seconds / 2.0) as usize)
                .map(|n| [2.0 * n as f64, if n % 2 == 0 { a * leg } else { 0.0 }, 0.0, 0.0])
                .collect(),
            Self::Random(most) => {
                // A linear congruential generator (Knuth's MMIX), so that every run has the same orders.
                let mut state = 20_261_128u64;
                let mut next = || {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (state >> 33) as f64 / (1u64 << 31) as f64
                };
                (0..(2.0 * seconds) as usize)
                    .map(|n| {
                        let (angle, speed) = (std::f64::consts::TAU * next(), most * leg * next());
                        [0.5 * n as f64, speed * angle.cos(), speed * angle.sin(), next() - 0.5]
                    })
                    .collect()
            }
        })
    }
}
