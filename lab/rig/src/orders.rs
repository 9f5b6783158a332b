//! The same bits whatever the order of the frames, and on any number of threads.

use std::thread;

use common::Noise;

use crate::{
    judge::Judge,
    knight::{Player, Rigged},
};

/// A frame: a clip and a time in seconds.
pub type Frame = (usize, f32);

/// Every key of every clip.
pub fn frames(judge: &Judge) -> Vec<Frame> {
    let clips = judge.clips().iter().enumerate();
    clips.flat_map(|(i, clip)| Judge::keys(clip).into_iter().map(move |t| (i, t as f32))).collect()
}

/// The bits of each frame's local transforms, with the frames solved in the given order, in turn on some threads.
fn solved(
    rigged: &Rigged,
    frames: &[Frame],
    order: &[usize],
    threads: usize,
) -> Result<Vec<Vec<u32>>, String> {
    let part = |first: usize| {
        let mut player = Player::new(rigged);
        let mine = order.iter().skip(first).step_by(threads);
        mine.map(|&at| {
            let (clip, time) = frames[at];
            player.sample(clip, time);
            player.solve()?;
            Ok((at, bits(&player)))
        })
        .collect::<Result<Vec<_>, String>>()
    };
    let mut all = vec![Vec::new(); frames.len()];
    thread::scope(|scope| {
        let parts: Vec<_> = (0..threads).map(|first| scope.spawn(move || part(first))).collect();
        for part in parts {
            for (at, bits) in part.join().map_err(|_| "a thread panicked")?? {
                all[at] = bits;
            }
        }
        Ok(all)
    })
}

/// The number of frames whose pose is that of the clip, with joints without a track at rest.
fn unmoved(rigged: &Rigged, frames: &[Frame], solved: &[Vec<u32>]) -> usize {
    let sampled = |&(clip, time): &Frame| {
        let mut player = Player::new(rigged);
        player.sample(clip, time);
        bits(&player)
    };
    frames.iter().zip(solved).filter(|(frame, solved)| sampled(frame) == **solved).count()
}

fn bits(player: &Player) -> Vec<u32> {
    let locals = player.pose().locals().iter();
    locals
        .flat_map(|l| {
            let parts = [&l.translation.to_array()[..], &l.rotation.to_array(), &l.scale.to_array()];
            parts.concat().into_iter().map(f32::to_bits).collect::<Vec<_>>()
        })
        .collect()
}

/// Prints, for each order and number of threads, how many frames have other bits. Returns whether none has.
pub fn table(title: &str, rigged: &Rigged, frames: &[Frame]) -> Result<bool, String> {
    let forwards: Vec<usize> = (0..frames.len()).collect();
    let backwards = forwards.iter().rev().copied().collect();
    let mut shuffled = forwards.clone();
    let mut noise = Noise::new(16);
    for i in (1..shuffled.len()).rev() {
        shuffled.swap(i, noise.below(i + 1));
    }
    let wanted = solved(rigged, frames, &forwards, 1)?;
    let still = unmoved(rigged, frames, &wanted);
    println!("{title}: moves the limbs in all but {still} of {} frames", frames.len());
    let mut met = 100 * still <= frames.len();
    bounds::bound(title, "limbs moved in 99 % of frames", format!("all but {still}"), met);
    for (order, name) in [(&forwards, "forwards"), (&backwards, "backwards"), (&shuffled, "shuffled")] {
        for threads in [1, 8] {
            let found = solved(rigged, frames, order, threads)?;
            let others = found.iter().zip(&wanted).filter(|(f, w)| f != w).count();
            println!(
                "{title}, {name} on {threads} threads: {others} of {} frames have other bits",
                frames.len()
            );
            bounds::bound(
                format!("{title}, {name} on {threads} threads"),
                "the same bits",
                format!("{others} differ"),
                others == 0,
            );
            met &= others == 0;
        }
    }
    Ok(met)
}
