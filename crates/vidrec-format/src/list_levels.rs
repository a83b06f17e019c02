//! Nested lists in Parquet: the level of a number says which list begins with it.

/// The repetition level of number `i` of a value of this shape. It is 0 for the first number, 1 at the beginning of a
/// new element of the outermost list, and so on.
pub fn repetition(sides: &[usize], i: usize) -> i16 {
    if i == 0 {
        return 0;
    }
    let mut inner = 1;
    let ended = sides.iter().rev().take_while(|&&side| {
        inner *= side;
        i.is_multiple_of(inner)
    });
    (sides.len() - ended.count()) as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_say_where_lists_begin() {
        let levels = |sides: &[usize], count| (0..count).map(|i| repetition(sides, i)).collect::<Vec<_>>();
        assert_eq!(levels(&[3], 3), [0, 1, 1]);
        assert_eq!(levels(&[2, 3], 6), [0, 2, 2, 1, 2, 2]);
        assert_eq!(levels(&[2, 2, 2], 8), [0, 3, 2, 3, 1, 3, 2, 3]);
    }
}
