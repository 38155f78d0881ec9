//! Finds the entries of a table by their group, for example by the first two bytes of a word. The compiler computes the
//! order, so nothing is built when the program starts.

/// The group of an entry that belongs to none.
pub const NO_GROUP: usize = usize::MAX;

/// The places of `ENTRIES` entries by their group. `BOUNDS` is the number of groups plus one.
#[derive(Debug)]
pub struct Groups<const ENTRIES: usize, const BOUNDS: usize> {
    /// Where each group begins in `order`; the last bound is the end of the last group.
    begins: [u16; BOUNDS],
    /// The places of the entries by group. Within a group, they have the order of the table.
    order: [u16; ENTRIES],
}

impl<const ENTRIES: usize, const BOUNDS: usize> Groups<ENTRIES, BOUNDS> {
    /// Orders the entries, given the group of each.
    ///
    /// # Panics
    /// If there are more than 65,535 entries, which is a compile error in a constant.
    #[expect(clippy::cast_possible_truncation, reason = "checked below")]
    pub const fn of(groups: &[usize; ENTRIES]) -> Self {
        assert!(ENTRIES <= u16::MAX as usize, "places have 16 bits");
        let (mut begins, mut order, mut at) = ([0; BOUNDS], [0; ENTRIES], 0);
        while at < ENTRIES {
            if groups[at] != NO_GROUP {
                begins[groups[at] + 1] += 1;
            }
            at += 1;
        }
        let mut group = 1;
        while group < BOUNDS {
            begins[group] += begins[group - 1];
            group += 1;
        }
        let mut next = begins;
        at = 0;
        while at < ENTRIES {
            if groups[at] != NO_GROUP {
                let place = &mut next[groups[at]];
                order[*place as usize] = at as u16;
                *place += 1;
            }
            at += 1;
        }
        Self { begins, order }
    }

    /// The places of the entries of a group, in the order of the table.
    pub fn of_group(&self, group: usize) -> &[u16] {
        let Some(&[from, to]) = self.begins.get(group..group.saturating_add(2)) else { return &[] };
        self.order.get(usize::from(from)..usize::from(to)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_group_has_its_entries_in_their_order() {
        const GROUPS: Groups<5, 4> = Groups::of(&[2, 0, NO_GROUP, 2, 0]);
        assert_eq!((GROUPS.of_group(0), GROUPS.of_group(1), GROUPS.of_group(2)), (&[1, 4][..], &[][..], &[0, 3][..]));
        assert!(GROUPS.of_group(3).is_empty() && GROUPS.of_group(NO_GROUP).is_empty());
    }
}
