//! A snake along a moving closed curve, judged in f64: joints on the curve, lengths, roll per frame, and the time per solve.
//! Then a look at a target that circles the head: turn of a joint per step of the target.
//!
//! Exit code 1 if a bound is missed. The argument is the number of rounds of the snake.

mod judge;
mod look;
mod snake;

fn main() -> std::process::ExitCode {
    let laps = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(10);
    let met = snake::table(laps) & look::table(20_000);
    println!("{}", if met { "all within bounds" } else { "past a bound" });
    std::process::ExitCode::from(u8::from(!met))
}

#[cfg(test)]
mod tests {
    use sinew::{glam::Vec3, solve::spline::CurveUp};

    use crate::{
        look,
        snake::{Ring, Snake, run},
    };

    #[test]
    fn a_snake_goes_once_round_within_bounds() {
        let ring = Ring { name: "", high: 0.05, wide: 0.03, swings: 0.31 };
        for up in [CurveUp::Direction(Vec3::Y), CurveUp::Carried(Vec3::Y)] {
            let f = run(&Snake::made("", 24), &ring, 1, up);
            assert!(f.off <= 1e-4 && f.longer <= 1e-5 && f.roll <= 2.0 && f.missed == 0, "{f:?}");
        }
    }

    #[test]
    fn a_look_goes_round_without_a_leap() {
        for dead_zone in [0.0, 0.2] {
            let f = look::run(0.02, false, dead_zone, 2000);
            assert!(f.steepest <= look::BOUND && f.eyes <= 1e-3, "{f:?}");
        }
    }
}
