//! Hints for the uploader: a short list without repetitions.

const MOST: usize = 10;

#[derive(Debug, Default)]
pub(crate) struct Warnings {
    list: Vec<String>,
    more: bool,
}

impl Warnings {
    pub(crate) fn push(&mut self, warning: String) {
        if self.list.contains(&warning) {
            return;
        }
        if self.list.len() < MOST {
            self.list.push(warning);
        } else {
            self.more = true;
        }
    }

    pub(crate) fn into_list(self) -> Vec<String> {
        let mut list = self.list;
        if self.more {
            list.push("There are more references like these.".to_owned());
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_short_and_says_so() {
        let mut warnings = Warnings::default();
        for number in 0..50 {
            warnings.push(format!("{}", number / 2));
        }
        let list = warnings.into_list();
        assert_eq!(list.len(), MOST + 1);
        assert_eq!(list[1], "1");
        assert!(list[MOST].contains("more"));
    }
}
