//! The oracle: the Knight's clips without the tracks of its limbs, and the limbs solved from the control nodes instead.

use crate::{
    judge::{BONE, END, Judge, Tally},
    knight::{Knight, LIMBS, Player},
};

/// Limbs that must be judged, so that a table that left most of them out holds no bound.
const LIMBS_JUDGED: usize = 10_549;

/// Prints the errors of each limb at all keys of all clips. Returns whether all are within bounds.
pub fn table(judge: &Judge, knight: &Knight) -> Result<bool, String> {
    let rigged = knight.controlled()?;
    if judge.clips().len() != rigged.clips().len() {
        return Err(format!("{} clips, of which {} were read", judge.clips().len(), rigged.clips().len()));
    }
    let joints = knight.joints(judge.nodes())?;
    let mut player = Player::new(&rigged);
    let (mut sums, mut keys) = ([Tally::default(); LIMBS.len()], 0);
    for (i, clip) in judge.clips().iter().enumerate() {
        for time in Judge::keys(clip) {
            // Key times are f32 in the file.
            player.sample(i, time as f32);
            player.solve()?;
            for (sum, tally) in sums.iter_mut().zip(judge.compare(clip, time, &player.locals(&joints))) {
                *sum = sum.and(tally);
            }
            keys += 1;
        }
    }
    println!(
        "\n{} clips, {keys} keys: the limbs from their control nodes, beside the file",
        judge.clips().len()
    );
    println!(
        "{:<12} {:>7} {:>9} {:>9} {:>8}   {:>7} {:>9} {:>8}",
        "limb", "limbs", "holding", "degrees", "mm", "beyond", "degrees", "mm"
    );
    let row = |name: &str, t: Tally| {
        println!(
            "{name:<12} {:>7} {:>9} {:>9.4} {:>8.4}   {:>7} {:>9.4} {:>8.4}",
            t.within.limbs,
            t.within.held,
            t.within.bone,
            t.within.end,
            t.beyond.limbs,
            t.beyond.bone,
            t.beyond.end
        );
    };
    for (limb, sum) in judge.limbs().iter().zip(sums) {
        row(&limb.name, sum);
    }
    let all = sums.into_iter().fold(Tally::default(), Tally::and);
    row("all", all);
    let within = all.within;
    let mut met = true;
    let mut bound = |bound: String, value: String, holds: bool| {
        bounds::bound("Knight's limbs from control nodes", bound, value, holds);
        met &= holds;
    };
    bound(format!("bones within {BONE} degrees"), format!("{:.4}", within.bone), within.bone <= BONE);
    bound(format!("ends within {END} mm"), format!("{:.4}", within.end), within.end <= END);
    bound(
        format!("at least {LIMBS_JUDGED} limbs, all of them"),
        format!("{} of {}", within.held, within.limbs),
        within.held == within.limbs && within.limbs >= LIMBS_JUDGED,
    );
    Ok(met)
}
