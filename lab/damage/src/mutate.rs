//! Damage done to a file, the same for the same seed.

/// Numbers that repeat from run to run (Marsaglia's xorshift).
pub struct Dice(u64);

impl Dice {
    /// Dice for a case. The seed is spread first, as small seeds would give alike numbers.
    pub fn new(seed: u64, case: u64) -> Self {
        let mixed = (seed ^ case.rotate_left(32)).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut dice = Self(mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) | 1);
        (0..8).for_each(|_| {
            dice.below(2);
        });
        dice
    }

    /// A number below `n`; 0 where there is none.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % (n.max(1) as u64)) as usize
    }
}

/// Numbers that make trouble, and some that do not.
const NUMBERS: &[&str] = &[
    "-1",
    "0",
    "1",
    "2",
    "3",
    "7",
    "90",
    "180",
    "0.5",
    "-0.01",
    "1e-45",
    "1e-30",
    "1e-7",
    "1e7",
    "1e19",
    "3.4e38",
    "1e39",
    "65535",
    "4294967295",
    "4294967296",
];

/// Words that make trouble where a number or a name is wanted.
const WORDS: &[&str] = &[
    "nan",
    "inf",
    "-inf",
    "-1",
    "0",
    "1",
    "2",
    "255",
    "65536",
    "4294967295",
    "4294967296",
    "-2147483649",
    "18446744073709551616",
    "1e-45",
    "1e-30",
    "1e30",
    "3.4e38",
    "1e39",
    "1e308",
    "1e309",
    "0.5",
    "null",
    "true",
    "[]",
    "{}",
    "\"\"",
    "}",
    "{",
    "",
    "End",
    "Site",
    "CHANNELS",
    "OFFSET",
    "Xrotation",
    "f",
    "v",
];

/// Floats that make trouble.
const FLOATS: &[f32] = &[
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    0.0,
    -0.0,
    1e-45,
    f32::MIN_POSITIVE,
    1e-20,
    1e20,
    f32::MAX,
    f32::MIN,
    -1.0,
    1e6,
];

/// Damages a file in one to four places.
pub fn damage(good: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = good.to_vec();
    // Mostly one: of many one is refused at once, and the others are never met.
    let places = if dice.below(3) > 0 { 1 } else { 2 + dice.below(3) };
    for _ in 0..places {
        // Half of all damage is done where the text is: a GLB's numbers outweigh it by far.
        let text = json_of(&bytes).filter(|_| dice.below(2) == 0);
        let range = text.unwrap_or(0..bytes.len());
        let at = range.start + dice.below(range.len());
        let binary = bytes.starts_with(b"glTF");
        match dice.below(20) {
            0 => bytes.iter_mut().skip(at).take(1).for_each(|b| *b ^= 1 << dice.below(8)),
            1 => {
                const SIGNS: &[u8] = b"0189-.eE{}[],:\"\0\xff \n";
                bytes.iter_mut().skip(at).take(1).for_each(|b| *b = SIGNS[dice.below(SIGNS.len())]);
            }
            2 => bytes.truncate(at),
            3 => {
                let end = (at + 1 + dice.below(64)).min(bytes.len());
                bytes.drain(at.min(end)..end);
            }
            4 => {
                let end = (at + 1 + dice.below(64)).min(bytes.len());
                let copy = bytes[at.min(end)..end].to_vec();
                bytes.splice(at..at, copy);
            }
            5..=9 if binary => {
                let float = FLOATS[dice.below(FLOATS.len())].to_le_bytes();
                let at = (at & !3).min(bytes.len().saturating_sub(4));
                for (slot, byte) in bytes.iter_mut().skip(at).zip(float) {
                    *slot = byte;
                }
            }
            kind => {
                // A word where a number is wanted is soon refused; another number goes further.
                let words = if kind < 18 { NUMBERS } else { WORDS };
                replace_word(&mut bytes, at, words[dice.below(words.len())], kind < 18);
            }
        }
    }
    // Most damage to the text of a GLB changes its length, and would be refused for that alone.
    if dice.below(4) > 0 {
        mend_lengths(good, &mut bytes);
    }
    bytes
}

/// Where the JSON of a GLB lies.
fn json_of(bytes: &[u8]) -> Option<std::ops::Range<usize>> {
    let length = bytes.get(12..16)?.first_chunk::<4>().map(|b| u32::from_le_bytes(*b))? as usize;
    (bytes.starts_with(b"glTF") && bytes.len() >= 20 + length && length > 0).then(|| 20..20 + length)
}

/// Replaces the word (a run of letters, digits, dots and signs) at a place, or the next number behind it.
fn replace_word(bytes: &mut Vec<u8>, at: usize, word: &str, number: bool) {
    let next = bytes.iter().skip(at).position(u8::is_ascii_digit).filter(|_| number);
    let at = (at + next.unwrap_or(0)).min(bytes.len());
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || b"+-._".contains(b);
    let before = bytes[..at].iter().rev().take(40).take_while(|b| is_word(b)).count();
    let after = bytes[at..].iter().take(40).take_while(|b| is_word(b)).count();
    bytes.splice(at - before..at + after, word.bytes());
}

/// Makes a GLB whose JSON became longer or shorter say so.
fn mend_lengths(good: &[u8], bytes: &mut [u8]) {
    let Some(json) = json_of(good).filter(|_| bytes.starts_with(b"glTF") && bytes.len() > 20) else { return };
    let length = (json.len() + bytes.len()).saturating_sub(good.len()) as u32;
    let total = bytes.len() as u32;
    bytes[8..12].copy_from_slice(&total.to_le_bytes());
    bytes[12..16].copy_from_slice(&length.to_le_bytes());
}
