//! Detects the character that separates the values of a table. File names say little: spreadsheets write `.csv` with
//! semicolons where the comma is the decimal separator, and databases with tabs or bars.

/// How much of a table is examined.
const SAMPLE_BYTES: usize = 64 * 1024;
const SAMPLE_RECORDS: usize = 100;
/// Characters that occur in ordinary text come last.
const DELIMITERS: [u8; 4] = [b'\t', b';', b'|', b','];

/// The delimiter with which the most records have as many values as the first one, or `usual` if no delimiter splits the first
/// record.
pub(super) fn of(text: &str, usual: u8) -> u8 {
    let sample = &text[..text.floor_char_boundary(SAMPLE_BYTES)];
    let is_cut = sample.len() < text.len();
    let mut best = (Fit::default(), usual);
    for delimiter in DELIMITERS {
        let fit = Fit::of(sample, is_cut, delimiter);
        if fit > best.0 {
            best = (fit, delimiter);
        }
    }
    best.1
}

/// How well a delimiter fits; more records count for more than more columns.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Fit {
    records: usize,
    columns: usize,
}

impl Fit {
    fn of(sample: &str, is_cut: bool, delimiter: u8) -> Self {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .from_reader(sample.as_bytes());
        let records = reader.byte_records().take(SAMPLE_RECORDS).map_while(Result::ok);
        let mut lengths: Vec<usize> = records.map(|record| record.len()).collect();
        if is_cut && lengths.len() < SAMPLE_RECORDS {
            lengths.pop();
        }
        match lengths.first() {
            Some(&columns) if columns > 1 => {
                Self { records: lengths.iter().filter(|length| **length == columns).count(), columns }
            }
            _ => Self::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_character_that_all_records_share_is_found() {
        for (text, delimiter) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2,5\n", b';'),
            ("Name;Price, EUR\nApple;1,50\n", b';'),
            ("name\tcity\nDoe, J\tRome, IT\n", b'\t'),
            ("id|name|note\n1|x|a, b; c\n", b'|'),
            ("a,b\n\"x;y\tz|\",2\n", b','),
            ("name,note\nx,one; two; three\ny,four\n", b','),
            ("\"a\nb\",c\n1,2\n", b','),
        ] {
            assert_eq!(char::from(of(text, b',')), char::from(delimiter), "{text}");
        }
    }

    #[test]
    fn a_list_has_the_usual_one() {
        assert_eq!((of("one\ntwo\n", b','), of("one\ntwo\n", b'\t'), of("", b',')), (b',', b'\t', b','));
    }

    #[test]
    fn only_the_beginning_of_a_table_is_looked_at() {
        let long = format!("a\tb\n{}", "1\t2\n".repeat(100_000));
        assert_eq!(of(&long, b','), b'\t');
        let open = format!("a|b\n\"{}", "x|y\n".repeat(100_000));
        assert_eq!(of(&open, b','), b'|');
    }
}
