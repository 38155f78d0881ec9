//! scratch
use tessera_engine::{domain::Packing, eval::*, score::Weights};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let base = Weights::default();
    let mut runs: Vec<(String, Weights)> = vec![("default".into(), base.clone())];
    for spec in &a[2..] {
        let mut w = base.clone();
        for kv in spec.split(',') { let (k, v) = kv.split_once('=').unwrap(); let v: f64 = v.parse().unwrap();
            match k { "k1"=>w.k1=v,"b"=>w.b=v,"ctx"=>w.context=v,"tags"=>w.tags=v,"cat"=>w.category=v,"comp"=>w.compounds=v,"near"=>w.near_words=v,"names"=>w.names=v,"month"=>w.month=v,"day"=>w.day=v,"standing"=>w.standing=v,"prior"=>w.prior=v,"floor"=>w.floor=v,"cp"=>w.charge_power=v,"cf"=>w.charge_from_tokens=v,"is"=>w.index_share=v,"hl"=>w.half_life_days=v,"imp"=>w.importance=v,"rec"=>w.recency=v,_=>panic!("{k}")} }
        runs.push((spec.clone(), w));
    }
    for (name, weights) in runs {
        let mut out = format!("{name:28}");
        for packing in [Packing::Details, Packing::Dual] {
            let c = EvalConfig { budgets: vec![500, 1000, 2000], packing, weights: weights.clone() };
            let r = evaluate_locomo(std::path::Path::new(&a[1]), Unit::Turn, &c).unwrap();
            out += &format!(" | det {:?} surf {:?} R@k {:?} mrr {:.3} ms {:.2} tok {:?} over {} q {}", r.recall_at_tokens.values().map(|v| (v*1000.0).round()/10.0).collect::<Vec<_>>(), r.surfaced_at_tokens.values().map(|v| (v*1000.0).round()/10.0).collect::<Vec<_>>(), r.recall_at_k.values().map(|v| (v*1000.0).round()/10.0).collect::<Vec<_>>(), r.mrr, r.ms_p50, r.tokens_used.values().map(|v| v.round()).collect::<Vec<_>>(), r.over_budget, r.questions);
        }
        println!("{out}");
    }
}
