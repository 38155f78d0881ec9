//! Irregular English forms that no stemmer folds. Forms that are also words of their own
//! (left, found, saw, lives, felt, rose, ground, wound, bore, lay, …) are left out on purpose.

/// Sorted by form: (form, base form).
const IRREGULAR: &[(&str, &str)] = &[
    ("arose", "arise"), ("ate", "eat"), ("awoke", "awake"), ("awoken", "awake"), ("beaten", "beat"),
    ("became", "become"), ("began", "begin"), ("begun", "begin"), ("bent", "bend"), ("bitten", "bite"),
    ("blew", "blow"), ("blown", "blow"), ("bought", "buy"), ("bred", "breed"), ("broke", "break"),
    ("broken", "break"), ("brought", "bring"), ("built", "build"), ("burnt", "burn"), ("came", "come"),
    ("caught", "catch"), ("children", "child"), ("chose", "choose"), ("chosen", "choose"), ("clung", "cling"),
    ("crept", "creep"), ("criteria", "criterion"), ("dealt", "deal"), ("drank", "drink"), ("drawn", "draw"),
    ("dreamt", "dream"), ("drew", "draw"), ("driven", "drive"), ("drove", "drive"), ("drunk", "drink"),
    ("dug", "dig"), ("eaten", "eat"), ("fallen", "fall"), ("fed", "feed"), ("feet", "foot"), ("fell", "fall"),
    ("fled", "flee"), ("flew", "fly"), ("flown", "fly"), ("forbidden", "forbid"), ("foresaw", "foresee"),
    ("forgave", "forgive"), ("forgiven", "forgive"), ("forgot", "forget"), ("forgotten", "forget"),
    ("fought", "fight"), ("froze", "freeze"), ("frozen", "freeze"), ("gave", "give"), ("geese", "goose"),
    ("given", "give"), ("gone", "go"), ("got", "get"), ("gotten", "get"), ("grew", "grow"), ("grown", "grow"),
    ("heard", "hear"), ("held", "hold"), ("hid", "hide"), ("hidden", "hide"), ("hung", "hang"),
    ("indices", "index"), ("kept", "keep"), ("knew", "know"), ("known", "know"), ("laid", "lay"),
    ("learnt", "learn"), ("led", "lead"), ("lent", "lend"), ("lit", "light"), ("lost", "lose"),
    ("made", "make"), ("matrices", "matrix"), ("meant", "mean"), ("men", "man"), ("met", "meet"),
    ("mice", "mouse"), ("misunderstood", "misunderstand"), ("overcame", "overcome"), ("paid", "pay"),
    ("people", "person"), ("ran", "run"), ("rang", "ring"), ("ridden", "ride"), ("risen", "rise"),
    ("rode", "ride"), ("said", "say"), ("sang", "sing"), ("sank", "sink"), ("sat", "sit"), ("seen", "see"),
    ("sent", "send"), ("shaken", "shake"), ("shone", "shine"), ("shook", "shake"), ("shot", "shoot"),
    ("shown", "show"), ("shrank", "shrink"), ("slept", "sleep"), ("slid", "slide"), ("sold", "sell"),
    ("sought", "seek"), ("spent", "spend"), ("spoke", "speak"), ("spoken", "speak"), ("sprang", "spring"),
    ("stole", "steal"), ("stolen", "steal"), ("stood", "stand"), ("struck", "strike"), ("stuck", "stick"),
    ("stung", "sting"), ("sung", "sing"), ("sunk", "sink"), ("swam", "swim"), ("swept", "sweep"),
    ("swore", "swear"), ("sworn", "swear"), ("swum", "swim"), ("swung", "swing"), ("taken", "take"),
    ("taught", "teach"), ("teeth", "tooth"), ("thought", "think"), ("threw", "throw"), ("thrown", "throw"),
    ("told", "tell"), ("took", "take"), ("tore", "tear"), ("torn", "tear"), ("understood", "understand"),
    ("undertook", "undertake"), ("vertices", "vertex"), ("went", "go"), ("wept", "weep"), ("withdrew", "withdraw"),
    ("wives", "wife"), ("woke", "wake"), ("woken", "wake"), ("women", "woman"), ("won", "win"),
    ("wore", "wear"), ("worn", "wear"), ("wove", "weave"), ("woven", "weave"), ("written", "write"),
    ("wrote", "write"),
];

/// The base form of an irregular form.
pub(super) fn base_form(folded: &str) -> Option<&'static str> {
    let at = IRREGULAR.binary_search_by_key(&folded, |(form, _)| form).ok()?;
    IRREGULAR.get(at).map(|(_, base)| *base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_goes_one_step() {
        assert!(IRREGULAR.is_sorted_by_key(|(form, _)| form));
        assert!(IRREGULAR.iter().all(|(_, base)| base_form(base).is_none()));
        assert_eq!(base_form("went"), Some("go"));
        assert_eq!(base_form("left"), None);
    }
}
