//! Counts of findings.

/// A promise that a solve broke.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    NotFinite,
    Panic,
    Limit,
    Length,
    /// Other bits the second time, or bits changed by a solve that was refused.
    Bits,
    /// Refused without a reason, or not refused with one.
    Refusal,
    /// More of the goal is missing than before.
    Grew,
    /// The report tells something else than what was left.
    Report,
}

pub const FAULTS: [(Fault, &str); 8] = [
    (Fault::NotFinite, "NaN"),
    (Fault::Panic, "panics"),
    (Fault::Limit, "limits"),
    (Fault::Length, "lengths"),
    (Fault::Bits, "bits"),
    (Fault::Refusal, "refusals"),
    (Fault::Grew, "grew"),
    (Fault::Report, "reports"),
];

/// Counts of one row.
#[derive(Clone, Default)]
pub struct Tally {
    pub solves: u64,
    pub refused: u64,
    /// Of the bits of all answers, so that two builds compare; the order of the batches does not count.
    pub digest: u64,
    pub found: [u64; FAULTS.len()],
    /// The furthest out of any limit, in radians.
    pub worst: f64,
    /// The first of each kind.
    pub first: [Option<String>; FAULTS.len()],
}

impl Tally {
    pub fn find(&mut self, fault: Fault, what: impl FnOnce() -> String) {
        let n = fault as usize;
        self.found[n] += 1;
        self.first[n].get_or_insert_with(what);
    }

    /// Takes an answer's bits into the digest.
    pub fn digest(&mut self, bits: impl IntoIterator<Item = u64>) {
        // FNV-1a (Fowler, Noll, Vo), by words.
        self.digest = bits.into_iter().fold(self.digest, |sum, x| (sum ^ x).wrapping_mul(0x100_0000_01b3));
    }

    pub fn bad(&self) -> u64 {
        self.found.iter().sum()
    }

    pub fn add(&mut self, other: &Self) {
        self.solves += other.solves;
        self.refused += other.refused;
        self.digest = self.digest.wrapping_add(other.digest);
        self.worst = self.worst.max(other.worst);
        for n in 0..FAULTS.len() {
            self.found[n] += other.found[n];
            if self.first[n].is_none() {
                self.first[n].clone_from(&other.first[n]);
            }
        }
    }
}
