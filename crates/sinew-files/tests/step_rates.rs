//! The sample's walk, planted step by step: slow and fast games see the same feet.

use glam::Vec3;
use sinew::{
    JointId, Placement, Pose,
    body::BodyRoles,
    ground::{
        Ground, MeshGround,
        plant::{Figure, FootPlanter, Leg, PlantOptions, Sole},
        terrain::{Flight, Rough, Slope, Stairs},
    },
};
use sinew_files::{Model, sample};

fn figure(model: &Model, bind: &Pose) -> Figure {
    let body = BodyRoles::find(bind, &model.declared_roles).unwrap();
    let at = |j: JointId| bind.position(j);
    let legs = body.legs.iter().map(|leg| {
        let length = (at(leg.shin) - at(leg.thigh)).length() + (at(leg.foot) - at(leg.shin)).length();
        let skin = model.skin.iter().filter(|v| model.skeleton.is_below(v.joint, leg.foot));
        let vertices: Vec<Vec3> = skin.map(|v| bind.model(v.joint).transform_point3(v.position)).collect();
        let sole = Sole::from_mesh(bind, leg.foot, leg.toes, length, &vertices).unwrap();
        Leg::new(leg.thigh, leg.shin, leg.foot, leg.toes, sole)
    });
    Figure::new(bind, body.hips, legs.collect(), 1.8).unwrap()
}

/// Input of the foot planter.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Mode {
    Frames,
    Beats,
    Foresight,
}

/// Each foot's ankle in the world at each frame.
fn ankles(model: &Model, figure: &Figure, ground: &dyn Ground, rate: f32, mode: Mode) -> Vec<Vec<Vec3>> {
    let clip = &model.clips[0];
    let rest = Pose::rest(&model.skeleton);
    let mut planter = FootPlanter::new(figure, PlantOptions::default()).unwrap();
    planter.learn_floor(clip, &rest).unwrap();
    planter.set_look_ahead(if mode == Mode::Foresight { 0.3 } else { 0.0 }).unwrap();
    let mut feet = planter.state();
    let (mut pose, mut tick) = (rest.clone(), rest.clone());
    let mut all = vec![Vec::new(); figure.legs().len()];
    for frame in 0..=(clip.duration() * rate) as usize {
        clip.sample(clip.start() + frame as f32 / rate, &mut pose);
        pose.update();
        let world = Placement::IDENTITY;
        if mode != Mode::Frames {
            while let Some(later) = planter.next_tick(&feet, 1.0 / rate) {
                clip.sample(clip.start() + frame as f32 / rate + later, &mut tick);
                tick.update();
                planter.give_tick(&mut feet, &tick, &world).unwrap();
            }
        }
        planter.sense(&mut feet, ground, &pose, &world).unwrap();
        planter.step(&mut feet, &mut pose, &world, 1.0 / rate).unwrap();
        for (list, leg) in all.iter_mut().zip(figure.legs()) {
            list.push(pose.position(leg.foot));
        }
    }
    all
}

/// Root mean square and largest distance of the ankles of a slow game from those of a fast one.
fn apart(slow: &[Vec<Vec3>], fast: &[Vec<Vec3>], ratio: f32) -> (f64, f64) {
    let (mut sum, mut count, mut most) = (0.0f64, 0, 0.0f64);
    for (slow, fast) in slow.iter().zip(fast) {
        for (i, at) in slow.iter().enumerate() {
            let place = i as f32 * ratio;
            let (k, s) = (place as usize, place.fract());
            let Some(b) = fast.get(k + 1) else { continue };
            // Between frames 7 ms apart a foot's path bends by a tenth of a millimetre.
            let off = f64::from((*at - fast[k].lerp(*b, s)).length());
            sum += off * off;
            count += 1;
            most = most.max(off);
        }
    }
    assert!(count > 200, "{count}");
    ((sum / f64::from(count)).sqrt(), most)
}

#[test]
fn slow_and_fast_games_agree() {
    let model = sample::mannequin().unwrap();
    let bind = model.bind_pose();
    let figure = figure(&model, &bind);
    let lead = 0.8 * figure.leg_length();
    let stairs = |rise: f32, going: f32, flight| {
        Stairs::new().with_rise(rise).with_going(going).with_lead(lead).with_flight(flight).mesh()
    };
    let slope = |degrees: f32| Slope::new().with_angle(degrees.to_radians()).with_lead(lead).mesh();
    for (name, mesh) in [
        ("stairs", stairs(0.12, 0.4, Flight::Up)),
        ("stairs down", stairs(0.12, 0.4, Flight::Down)),
        ("steep stairs", stairs(0.17, 0.29, Flight::Up)),
        ("steep stairs down", stairs(0.17, 0.29, Flight::Down)),
        ("slope", slope(20.0)),
        ("slope down", slope(-20.0)),
        ("rough", Rough::default().mesh()),
    ] {
        let ground = MeshGround::new(mesh.unwrap()).unwrap();
        for mode in [Mode::Frames, Mode::Beats, Mode::Foresight] {
            let run = |rate: f32| ankles(&model, &figure, &ground, rate, mode);
            let fast = run(144.0);
            // With nothing but frames, rates that have none at the ticks decide by what they make of those around.
            let rates = if mode == Mode::Frames { &[30.0, 60.0][..] } else { &[30.0, 45.0, 50.0, 60.0] };
            for &rate in rates {
                let (rms, most) = apart(&run(rate), &fast, 144.0 / rate);
                assert!(
                    rms <= 0.0025 && most <= 0.012,
                    "{name}, {rate} Hz, {mode:?}: {rms} m RMS, {most} m at most"
                );
            }
        }
    }
}

/// Heel and ball in contact, by their heights and speeds in the clip, stand on the ground from the second frame of the contact
/// on if the landing is known ahead.
#[test]
fn known_contacts_are_down_by_their_second_frame() {
    const RATE: f32 = 60.0;
    let model = sample::mannequin().unwrap();
    let bind = model.bind_pose();
    let figure = figure(&model, &bind);
    let stairs = Stairs::new().with_rise(0.12).with_going(0.4).with_lead(0.8 * figure.leg_length());
    for flight in [Flight::Up, Flight::Down] {
        let ground = MeshGround::new(stairs.with_flight(flight).mesh().unwrap()).unwrap();
        let (clip, rest) = (&model.clips[0], Pose::rest(&model.skeleton));
        let mut planter = FootPlanter::new(&figure, PlantOptions::default()).unwrap();
        planter.learn_floor(clip, &rest).unwrap();
        planter.set_look_ahead(0.3).unwrap();
        let (mut feet, mut pose) = (planter.state(), rest.clone());
        let points = |pose: &Pose| -> Vec<Vec3> {
            let both =
                |leg: &Leg| [leg.sole.heel, leg.sole.ball].map(|p| pose.model(leg.foot).transform_point3(p));
            figure.legs().iter().flat_map(both).collect()
        };
        // Dorsiflexion: heel to ball turned up from a right angle to the shin.
        let bends = |pose: &Pose| -> Vec<f32> {
            let bend = |leg: &Leg| {
                let [knee, ankle] = [leg.shin, leg.foot].map(|j| pose.model(j).translation);
                let [heel, ball] =
                    [leg.sole.heel, leg.sole.ball].map(|p| pose.model(leg.foot).transform_point3(p));
                90.0 - (knee - ankle).angle_between(ball - heel).to_degrees()
            };
            figure.legs().iter().map(bend).collect()
        };
        let (mut given, mut planted, mut bent) = (Vec::new(), Vec::new(), Vec::new());
        for frame in 0..=(clip.duration() * RATE) as usize {
            let time = clip.start() + frame as f32 / RATE;
            clip.sample(time, &mut pose);
            pose.update();
            given.push(points(&pose));
            let sample = |later: f32, pose: &mut Pose| {
                clip.sample(time + later, pose);
                Placement::IDENTITY
            };
            planter.step_with(&mut feet, &ground, &mut pose, 1.0 / RATE, sample).unwrap();
            planted.push(points(&pose));
            bent.push(bends(&pose));
        }
        let (mut count, mut lifted, mut slides) = (0, 0, Vec::new());
        for k in 0..given[0].len() {
            let lowest = given.iter().map(|p| p[k].y).fold(f32::MAX, f32::min);
            let touches = |i: usize| {
                let speed = (given[i + 1][k] - given[i - 1][k]).length() * 0.5 * RATE;
                given[i][k].y < lowest + 0.05 * figure.leg_length() && speed < 0.3
            };
            for i in (4..given.len() - 4).filter(|&i| (i - 2..=i + 2).all(touches)) {
                let (at, before) = (planted[i][k], planted[i - 1][k]);
                let hit = ground
                    .cast_ray(at + Vec3::Y * 0.3, Vec3::NEG_Y, 1.0, &sinew::ground::Filter::ALL)
                    .unwrap();
                let above = hit.distance - 0.3;
                // A heel lifts over its ball where the ankle ends, at 34 degrees or 8 more than the clip's.
                let lifts = k % 2 == 0 && above > 0.0 && bent[i][k / 2] > 32.0;
                assert!(above.abs() < 0.01 || lifts, "point {k}, frame {i}: {above} m");
                count += 1;
                if above > 0.01 {
                    lifted += 1;
                    continue;
                }
                slides.push((at - before).length() * RATE);
            }
        }
        slides.sort_by(f32::total_cmp);
        assert!(count > 500 && lifted < count / 50, "{lifted} of {count}");
        assert!(slides[slides.len() * 9 / 10] < 0.001, "{} m/s", slides[slides.len() * 9 / 10]);
    }
}
