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
