//! Every column of every memory comes back as it was written.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use rusqlite::{Connection, params_from_iter};

use super::*;
use crate::domain::{
    Category, FilePath, Importance, InFile, MemoryType, MemoryUuid, Origin, Permission, Scope, Share, Tag, Timestamp,
    Trust,
};
use crate::pack::Passage;
use crate::store::open::in_memory::InMemory;
use crate::store::rows::codec::{self, ToCell};
use crate::store::rows::memory::{find, find_known, packed, remains};

fn time() -> impl Strategy<Value = Timestamp> {
    (-10_000_000_000_000_000..10_000_000_000_000_000_i64).prop_map(Timestamp::from_micros)
}

fn id() -> impl Strategy<Value = MemoryUuid> {
    any::<u64>().prop_map(|key| MemoryUuid::from_key(&key.to_string()))
}

fn trust() -> impl Strategy<Value = Trust> {
    prop_oneof![Just(Trust::User), Just(Trust::Model), Just(Trust::Foreign)]
}

fn origin() -> impl Strategy<Value = Origin> {
    prop_oneof![
        Just(Origin::User),
        Just(Origin::Agent),
        Just(Origin::AutoLearn),
        Just(Origin::Conversation),
        Just(Origin::Import),
        Just(Origin::File),
        "[a-z]{1,12}".prop_map(Origin::Shared),
    ]
}

prop_compose! {
    fn words()(
        id in id(), content in ".*", summary in ".*", category in "[a-z]{1,12}", kind in 0..4_usize,
        importance in 0..=100_u8, tags in vec("[a-z]{1,8}", 0..4), keywords in vec(".*", 0..3),
        entities in vec(".*", 0..3), scope in option::of("[a-z]{2,9}/[a-z]{1,9}"),
    ) -> Memory {
        Memory {
            summary, importance: Importance::from_percent(importance),
            category: category.parse::<Category>().unwrap(),
            kind: MemoryType::ALL[kind],
            tags: tags.into_iter().map(|tag| Tag::try_from(tag).unwrap()).collect(),
            keywords, entities,
            scope: scope.map_or(Scope::Global, |scope| scope.parse().unwrap()),
            ..Memory::blank(id, content, Timestamp::from_micros(0))
        }
    }
}

prop_compose! {
    fn memories()(
        memory in words(), created in time(), updated in time(), last_accessed in option::of(time()),
        access_count in any::<u32>(), expires in option::of(time()), origin in origin(), trust in trust(),
        (session, cwd, client) in (option::of(".*"), option::of(".*"), option::of(".*")),
        (sensitive, rev, deleted) in (any::<bool>(), 0..=i64::MAX.cast_unsigned(), option::of(time())),
        (by, may_write, edited_by) in (option::of("[a-z]{1,9}"), any::<bool>(), option::of("[a-z]{1,9}")),
        (conflict_of, owner_trust) in (option::of(id()), option::of(trust())),
        file in option::of(("[a-z]{1,9}", option::of(".*"), any::<bool>())),
    ) -> Memory {
        let permission = if may_write { Permission::Write } else { Permission::Read };
        let share = by.map(|by| Share { by, permission });
        let file = file.map(|(name, heading, is_whole)| {
            InFile { path: FilePath::new("memories", &name).unwrap(), heading, is_whole }
        });
        Memory {
            created, updated, last_accessed, access_count, expires, origin, trust, owner_trust, session, cwd, client,
            sensitive, rev, deleted, share, edited_by, conflict_of, file, ..memory
        }
    }
}

prop_compose! {
    fn costs()(
        numbers in vec(any::<u32>(), 5), pieces in vec((any::<u32>(), any::<u32>(), any::<u32>()), 0..5)
    ) -> LineCosts {
        let passages = pieces.into_iter().map(|(bytes, tokens, json)| Passage { bytes, tokens, json }).collect();
        LineCosts {
            attribution: numbers[0], detail: numbers[1], index: numbers[2], json_detail: numbers[3],
            json_index: numbers[4], passages,
        }
    }
}

prop_compose! {
    fn analyses()(
        is_instruction in any::<bool>(), length in any::<u16>(), signature in any::<i64>(), forward in vec(any::<u8>(), 0..20),
        embedding in vec(any::<u8>(), 0..20), keys in vec(any::<i64>(), 0..4),
    ) -> Analysed {
        let anchors = serde_json::to_string(&keys).unwrap();
        Analysed { is_instruction, length, signature, forward, embedding, anchors }
    }
}

fn write(connection: &Connection, sql: &str, memory: &Memory, analysed: &Analysed, costs: &LineCosts) {
    let mut values = vec![memory.short_id.to_cell().unwrap()];
    Fields::write(memory, &mut values).unwrap();
    AnalysisColumns::write(analysed, &mut values).unwrap();
    CostColumns::write(costs, &mut values).unwrap();
    assert_eq!(connection.execute(sql, params_from_iter(values)).unwrap(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_row_holds_what_was_written_whether_it_is_made_or_made_anew(
        first in memories(), then in memories(), costs in [costs(), costs()], analysed in [analyses(), analyses()],
    ) {
        let groups = [Fields::NAMES, AnalysisColumns::NAMES, CostColumns::NAMES];
        let store = InMemory::new();
        let connection = &store.connection;
        for (sql, memory, analysed, costs) in [
            (codec::insert(&groups), first, &analysed[0], &costs[0]),
            (codec::update(&groups), then, &analysed[1], &costs[1]),
        ] {
            write(connection, &sql, &memory, analysed, costs);
            let known = crate::domain::MemoryRef::ShortId(memory.short_id);
            prop_assert_eq!(find(connection, known).unwrap(), Some(memory.clone()));
            let (remains, mark) = remains(connection, memory.id).unwrap().unwrap();
            prop_assert_eq!((&remains.memory, mark), (&memory, 0));
            prop_assert_eq!((remains.costs.as_ref(), remains.length), (Some(costs), analysed.length));
            prop_assert_eq!((remains.is_instruction, &remains.forward), (analysed.is_instruction, &analysed.forward));
            prop_assert_eq!(remains.signature.cast_signed(), analysed.signature);
            prop_assert_eq!(find_known(connection, known).unwrap(), Some(remains));
            let row = packed(connection, memory.short_id).unwrap();
            prop_assert_eq!(row.is_some(), memory.deleted.is_none());
            if let Some(row) = row {
                // Lines of a whole file are counted where it is asked for.
                prop_assert!(memory.is_whole_file() || row.costs == *costs);
                prop_assert_eq!(row.signature.cast_signed(), analysed.signature);
            }
        }
    }
}

#[test]
fn every_column_of_the_table_is_in_a_group_or_is_written_by_itself() {
    let store = InMemory::new();
    let sql = "SELECT name FROM pragma_table_info('memories')";
    let mut statement = store.connection.prepare(sql).unwrap();
    let there: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    let alone: &[&str] = &["short_id", "purged", "superseded_by", "newer", "related"];
    let groups = [alone, Fields::NAMES, AnalysisColumns::NAMES, CostColumns::NAMES].concat();
    for name in &there {
        assert_eq!(groups.iter().filter(|column| *column == name).count(), 1, "{name}");
    }
    assert_eq!(groups.len(), there.len());
}
