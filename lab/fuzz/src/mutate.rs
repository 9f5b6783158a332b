//! Mutations of a file, the same for the same seed: of bytes, words and lines, and of blocks that are copied or nested.

use std::ops::Range;

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

/// In glTF's JSON.
pub const GLTF: &[&str] = &[
    "\"extensionsRequired\":[\"KHR_draco_mesh_compression\"],",
    "\"sparse\":{\"count\":1},",
    "\"byteStride\":4,",
    "\"normalized\":true,",
    "\"skin\":0,",
    "\"mesh\":0,",
    "\"children\":[0],",
    "\"matrix\":[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1],",
    "\"scale\":[0,0,0],",
    "\"rotation\":[0,0,0,0],",
    "CUBICSPLINE",
    "STEP",
    "weights",
    "data:,",
    "\u{feff}",
    "5120",
    "5121",
    "5123",
    "5125",
    "5126",
];

/// In BVH.
pub const BVH: &[&str] = &[
    "End Site\n{\nOFFSET 0 0 1\n}\n",
    "JOINT a\n{\nOFFSET 0 1 0\nCHANNELS 0\n}\n",
    "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation",
    "Frames: 0",
    "Frames: 1000000",
    "Frame Time: 850",
    "Frame Time: 0",
    "MOTION",
    "ROOT b",
    "\u{feff}",
    "\r\n",
];

/// In rig files.
pub const RIG: &[&str] = &[
    "[[handle]]\n",
    "[humanoid]\n",
    "[creature]\n",
    "[goal.look]\n",
    "name = \"left arm\"\n",
    "from = \"last\"\n",
    "from = \"preferred\"\n",
    "solver = \"full-body\"\n",
    "solver = \"two-bone\"\n",
    "solver = \"follow\"\n",
    "solver = \"fabrik\"\n",
    "solver = \"fold\"\n",
    "solver = \"aim\"\n",
    "chain = [\"hips\"]\n",
    "space = \"head\"\n",
    "space = \"world\"\n",
    "space = { joint = \"foot.L\" }\n",
    "node = \"hand.L\"\n",
    "rotation = true\n",
    "rotation = [0, 0, 0, 0]\n",
    "position = [1e30, 0, 0]\n",
    "max_turn = 0.01\n",
    "#3",
    "hips/spine",
    "= [[[[",
    "\"\"\"",
];

/// In keys of rigs, which are nodes of a glTF.
pub const KEYS: &[&str] = &[
    "\"sinew_keys\":\"root\",",
    "\"space\":\"model\",",
    "\"space\":{\"role\":\"head\"},",
    "\"space\":\"joint\",",
    "\"part\":\"swivel\",",
    "\"part\":\"upper turn\",",
    "\"part\":\"space\",",
    "\"number\":1,",
    "\"stay\":70000,",
    "\"hold\",",
    "[\"smooth\",[1e30,0,0],[0,0,-1e30]],",
    "\"children\":[0],",
    "\"scale\":[-1,1,1e-20],",
    "CUBICSPLINE",
    "STEP",
    "rotation",
];

/// In XML.
pub const XML: &[&str] = &[
    "<![CDATA[",
    "]]>",
    "<a b=\"/>\">",
    "</a>",
    "<a/>",
    "<!--",
    "-->",
    "<?xml version=\"1.0\"?>",
    "<!DOCTYPE a [<!ENTITY b \"cc\">]>",
    "&b;",
    "&#0;",
    "&lt;",
    "\u{feff}",
    "xyz=\"0 0 0\"",
    "rpy=\"0 1.5707963 0\"",
    "<mimic joint=\"shoulder\"/>",
    "type=\"floating\"",
    "type=\"planar\"",
];

/// In OBJ.
pub const OBJ: &[&str] =
    &["f 1 2 3\n", "v 0 0 0\n", "f 1//1 2//2 3//3\n", "f -1 -2 -3\n", "\\\n", "1/2/3", "f", "#", "\u{feff}"];

/// In lines of goals, and in contacts.
pub const GOALS: &[&str] = &[
    "\n",
    "\"position\":[1e39,0,0],",
    "\"rotation\":[0,0,0,0],",
    "\"rotation\":[1e-30,0,0,0],",
    "\"priority\":2,",
    "\"root\":\"spring\",",
    "\"pole\":[0,0,0],",
    "\"relative_to\":\"Head\",",
    "\"curve\":[[0,0,0],[0,1,0],[1,1,0]],",
    "\"position_weight\":0,",
    "\"position_influence\":0.5,",
    "\"heel\":[[0,1]],",
    "\"curve\":[[0,1],[1,0]],",
    "LeftFoot",
    "\u{feff}",
    "\u{0}",
];

/// Floats that make trouble.
pub const FLOATS: &[f32] = &[
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

/// Inputs do not grow beyond this: what a small file can do is asked.
const LARGEST: usize = 400_000;

/// Random bytes.
pub fn random(dice: &mut Dice) -> Vec<u8> {
    (0..32 + dice.below(480)).map(|_| dice.below(256) as u8).collect()
}

/// Mutates a sound input in one to four places; `words` are those of its kind.
pub fn mutate(good: &[u8], words: &[&str], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = good.to_vec();
    // Mostly one: of many one is refused at once, and the others are never met.
    let places = if dice.below(3) > 0 { 1 } else { 2 + dice.below(3) };
    for _ in 0..places {
        // Half of all damage is done where the text is: a GLB's numbers outweigh it by far.
        let text = json_of(&bytes).filter(|_| dice.below(2) == 0);
        let range = text.unwrap_or(0..bytes.len());
        let at = range.start + dice.below(range.len());
        let binary = bytes.starts_with(b"glTF");
        match dice.below(32) {
            0 => bytes.iter_mut().skip(at).take(1).for_each(|b| *b ^= 1 << dice.below(8)),
            1 => {
                const SIGNS: &[u8] = b"0189-.eE{}[]<>,:\"\0\xff \n";
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
            20..=22 if !words.is_empty() => {
                let word = words[dice.below(words.len())].as_bytes();
                // Between words, where it has a meaning.
                let next = bytes.iter().skip(at).position(|b| !b.is_ascii_alphanumeric()).unwrap_or(0);
                repeat(&mut bytes, at + next, word, times(dice));
            }
            23..=25 => lines(&mut bytes, at, dice),
            26..=28 => block(&mut bytes, at, dice),
            29 => {
                let range = word_at(&bytes, at);
                let copy = [&bytes[range.clone()], b" "].concat();
                repeat(&mut bytes, range.start, &copy, times(dice));
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

/// Mostly few times, sometimes very many.
fn times(dice: &mut Dice) -> usize {
    [1, 1, 1, 2, 16, 600, 5000, 20_000][dice.below(8)]
}

/// Puts what is given there, so many times, as far as inputs may grow.
fn repeat(bytes: &mut Vec<u8>, at: usize, what: &[u8], times: usize) {
    let room = LARGEST.saturating_sub(bytes.len()) / what.len().max(1);
    bytes.splice(at..at, what.repeat(times.min(room)));
}

/// Leaves out the line at a place, copies it, or swaps it with the next.
fn lines(bytes: &mut Vec<u8>, at: usize, dice: &mut Dice) {
    let end_of = |bytes: &[u8], from: usize| {
        bytes[from..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |n| from + n + 1)
    };
    let start = bytes[..at].iter().rposition(|b| *b == b'\n').map_or(0, |n| n + 1);
    let end = end_of(bytes, start);
    let line = bytes[start..end].to_vec();
    match dice.below(3) {
        0 => drop(bytes.drain(start..end)),
        1 => repeat(bytes, start, &line, times(dice)),
        _ => {
            let next = end_of(bytes, end);
            bytes.splice(next..next, line);
            bytes.drain(start..end);
        }
    }
}

/// Leaves out the block behind a place, copies it, or puts it into itself: braces with the line that they belong to, square
/// brackets, elements of XML.
fn block(bytes: &mut Vec<u8>, at: usize, dice: &mut Dice) {
    let Some((outer, inner)) = find_block(bytes, at) else { return };
    let (whole, times) = (bytes[outer.clone()].to_vec(), times(dice));
    let comma = if bytes.get(outer.end) == Some(&b',') { &b","[..] } else { b"" };
    match dice.below(3) {
        0 => drop(bytes.drain(outer)),
        1 => repeat(bytes, outer.start, &[&whole, comma].concat(), times),
        _ => {
            let (open, close) =
                (bytes[outer.start..inner.start].to_vec(), bytes[inner.end..outer.end].to_vec());
            let both = (open.len() + close.len()).max(1);
            let times = times.min(LARGEST.saturating_sub(bytes.len()) / both);
            bytes.splice(outer.end..outer.end, close.repeat(times));
            bytes.splice(outer.start..outer.start, open.repeat(times));
        }
    }
}

/// The next block: all of it, and what is in it.
fn find_block(bytes: &[u8], at: usize) -> Option<(Range<usize>, Range<usize>)> {
    let start = at + bytes.get(at..)?.iter().position(|b| b"{[<".contains(b))?;
    let find = |from: usize, what: &[u8]| {
        bytes.get(from..)?.windows(what.len()).position(|w| w == what).map(|n| from + n)
    };
    if bytes[start] == b'<' {
        let name = bytes[start + 1..].iter().take_while(|b| b.is_ascii_alphanumeric()).count();
        let open = find(start, b">")? + 1;
        if name == 0 || bytes[open - 2] == b'/' {
            return Some((start..open, open..open));
        }
        let close = [b"</", &bytes[start + 1..=start + name], b">"].concat();
        let end = find(open, &close)?;
        return Some((start..end + close.len(), open..end));
    }
    let (open, close) = if bytes[start] == b'{' { (b'{', b'}') } else { (b'[', b']') };
    let mut depth = 0;
    let end = start
        + bytes[start..].iter().position(|&b| {
            depth += i32::from(b == open) - i32::from(b == close);
            depth == 0
        })?;
    // Its name stands before it: a key, or a line.
    let before = bytes[..start].iter().rposition(|b| b"{}[],".contains(b)).map_or(0, |n| n + 1);
    let named = if start - before < 60 && open == b'{' { before } else { start };
    Some((named..end + 1, start + 1..end))
}

/// Where the word at a place lies: a run of letters, digits, dots and signs.
fn word_at(bytes: &[u8], at: usize) -> Range<usize> {
    let is_word = |b: &&u8| b.is_ascii_alphanumeric() || b"+-._/".contains(b);
    let before = bytes[..at].iter().rev().take(40).take_while(is_word).count();
    let after = bytes[at..].iter().take(40).take_while(is_word).count();
    at - before..at + after
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
