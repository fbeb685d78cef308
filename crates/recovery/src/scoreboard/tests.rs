//! The scoreboard against RFC 6675, and against a plain array of segments.

use super::*;
use weft_core::{Purpose, Random};

const MSS: u64 = 1000;

fn segments(range: Range<u64>) -> Range<u64> {
    range.start * MSS..range.end * MSS
}

fn us(n: u64) -> Time {
    Time::ZERO + Span::from_us(n)
}

/// Segments 0.. are in flight; these have arrived.
fn board(arrived: &[(u64, u64)]) -> Scoreboard {
    let mut board = Scoreboard::default();
    for (start, end) in arrived {
        board.sack(segments(*start..*end), Time::ZERO);
    }
    board
}

#[test]
fn a_segment_is_lost_when_three_blocks_or_more_than_two_segments_arrived_above_it() {
    assert_eq!(board(&[(1, 3)]).judge_by_count(3, MSS), 0);
    assert_eq!(board(&[(1, 4)]).judge_by_count(3, MSS), MSS);
    assert_eq!(board(&[(1, 2), (3, 4)]).judge_by_count(3, MSS), 0);
    let mut three_blocks = Scoreboard::default();
    for start in [1, 3, 5] {
        three_blocks.sack(start * MSS..start * MSS + 10, Time::ZERO);
    }
    assert_eq!(three_blocks.judge_by_count(3, MSS), MSS, "only what lies below all three blocks");
}

#[test]
fn pipe_counts_what_is_in_flight_once_and_what_was_sent_again_once_more() {
    let mut board = board(&[(1, 2), (4, 8)]);
    assert_eq!(board.pipe(10 * MSS), 5 * MSS);
    assert_eq!(board.judge_by_count(3, MSS), 3 * MSS);
    assert_eq!(board.pipe(10 * MSS), 2 * MSS);
    board.resend(segments(0..1), us(1));
    assert_eq!(board.pipe(10 * MSS), 3 * MSS);
}

#[test]
fn next_is_the_lowest_lost_then_the_doubtful_then_the_last() {
    let mut board = board(&[(1, 2), (3, 6), (7, 8)]);
    board.judge_by_count(3, MSS);
    assert_eq!(board.first_waiting(), Some(segments(0..1)));
    board.resend(segments(0..1), us(1));
    assert_eq!(board.first_waiting(), Some(segments(2..3)));
    board.resend(segments(2..3), us(1));
    assert_eq!((board.first_waiting(), board.waiting()), (None, 0));
    assert_eq!(board.first_doubtful(), Some(segments(6..7)));
    board.resend(segments(6..7), us(1));
    assert_eq!(board.first_doubtful(), None);
    assert_eq!(board.last_missing(10 * MSS), segments(8..10));
    assert_eq!(board.last_missing(8 * MSS), segments(6..7));
}

/// A segment repeated by rule 3 counts as lost later, which is no reason to send it a third time; its copy stays in the pipe.
#[test]
fn what_was_repeated_while_doubtful_is_not_repeated_because_it_is_lost() {
    let mut board = board(&[(1, 2)]);
    assert_eq!((board.judge_by_count(3, MSS), board.first_doubtful()), (0, Some(segments(0..1))));
    board.resend(segments(0..1), us(1));
    assert_eq!(board.pipe(5 * MSS), 5 * MSS);
    board.sack(segments(2..4), us(2));
    assert_eq!((board.judge_by_count(3, MSS), board.first_waiting()), (MSS, None));
    assert_eq!(board.pipe(5 * MSS), 2 * MSS);
}

#[test]
fn a_time_out_loses_everything_that_has_not_arrived() {
    let mut board = board(&[(1, 3)]);
    board.resend(segments(0..1), us(1));
    board.lose_all(6 * MSS, us(1));
    assert_eq!((board.waiting(), board.pipe(6 * MSS)), (4 * MSS, 0));
    board.advance(3 * MSS);
    assert_eq!(board.first_waiting(), Some(segments(3..6)));
}

#[test]
fn time_judges_only_what_was_sent_before_something_that_arrived() {
    let mut board = board(&[]);
    board.sack(segments(1..2), us(10));
    board.sack(segments(3..4), us(30));
    board.sack(segments(5..6), us(50));
    let reference = Reference { sent: us(30), end: 4 * MSS };
    assert_eq!(board.judge_by_time(reference, Span::from_us(100), us(109)), (0, us(130)));
    assert_eq!(board.judge_by_time(reference, Span::from_us(100), us(110)), (MSS, us(130)));
    assert_eq!(board.first_waiting(), Some(segments(0..1)));
    assert_eq!(board.judge_by_time(reference, Span::from_us(100), us(130)), (MSS, Time::NEVER));
    let all = Reference { sent: us(50), end: 6 * MSS };
    assert_eq!(board.judge_by_time(all, Span::from_us(100), us(150)), (MSS, Time::NEVER));
}

#[test]
fn a_lost_retransmission_is_found_by_time() {
    let mut board = board(&[]);
    board.sack(segments(1..4), us(10));
    board.judge_by_count(3, MSS);
    board.resend(segments(0..1), us(20));
    board.sack(segments(4..5), us(30));
    let reference = Reference { sent: us(30), end: 5 * MSS };
    assert_eq!(board.judge_by_time(reference, Span::from_us(10), us(29)), (0, us(30)));
    assert_eq!(board.judge_by_time(reference, Span::from_us(10), us(30)), (MSS, Time::NEVER));
    assert_eq!(board.first_waiting(), Some(segments(0..1)));
}

#[test]
fn a_tail_lost_behind_a_retransmission_is_found_by_time() {
    let mut board = board(&[(1, 4)]);
    board.judge_by_count(3, MSS);
    board.extend(6 * MSS, us(5));
    board.resend(segments(0..1), us(20));
    board.advance(4 * MSS);
    let reference = Reference { sent: us(20), end: MSS };
    assert_eq!(board.judge_by_time(reference, Span::from_us(50), us(55)), (2 * MSS, Time::NEVER));
}

#[test]
fn reordering_is_what_arrives_late_without_having_been_sent_again() {
    let mut board = board(&[(1, 2)]);
    assert_eq!(board.advance(2 * MSS).overtaken.sent_once, 2 * MSS);
    board.sack(segments(4..5), us(1));
    assert_eq!(board.sack(segments(3..4), us(1)).overtaken.sent_once, 2 * MSS);
    board.lose_head(2 * MSS, MSS, us(1));
    board.resend(segments(2..3), us(2));
    assert_eq!(board.advance(5 * MSS).overtaken, Overtaken { sent_once: 0, sent_twice: 3 * MSS });
}

/// The result of an array of segments.
#[derive(Clone, Copy, Default)]
struct Cell {
    sacked: bool,
    lost: bool,
    resent: bool,
}

fn lost_by_count(cells: &[Cell], una: usize, at: usize) -> bool {
    let above = &cells[at.max(una)..];
    let sacked = above.iter().filter(|cell| cell.sacked).count();
    let blocks = above.windows(2).filter(|pair| !pair[0].sacked && pair[1].sacked).count();
    sacked > 2 || blocks >= 3
}

fn compare(board: &Scoreboard, cells: &[Cell], una: usize) {
    let open = &cells[una..];
    let count = |test: &dyn Fn(&Cell) -> bool| open.iter().filter(|cell| test(cell)).count() as u64 * MSS;
    assert_eq!(board.sacked(), count(&|cell| cell.sacked));
    assert_eq!(board.waiting(), count(&|cell| cell.lost && !cell.resent && !cell.sacked));
    let pipe = count(&|cell| !cell.sacked && !cell.lost) + count(&|cell| !cell.sacked && cell.resent);
    assert_eq!(board.pipe(open.len() as u64 * MSS), pipe);
    let first = open.iter().position(|cell| cell.lost && !cell.resent && !cell.sacked);
    assert_eq!(board.first_waiting().map(|bytes| bytes.start), first.map(|at| (una + at) as u64 * MSS));
}

#[test]
fn random_histories_agree_with_an_array_of_segments() {
    const LENGTH: usize = 40;
    for seed in 0..300 {
        let mut random = Random::new(seed, Purpose::Test, 0);
        let (mut board, mut cells, mut una) = (Scoreboard::default(), vec![Cell::default(); LENGTH], 0);
        while una < LENGTH {
            let start = una + random.below((LENGTH - una) as u32) as usize;
            let end = start + 1 + random.below(3.min((LENGTH - start) as u32)) as usize;
            match random.below(8) {
                0..4 if start > una => {
                    let new = board.sack(segments(start as u64..end as u64), Time::ZERO).bytes;
                    let before = cells[start..end].iter().filter(|cell| !cell.sacked).count();
                    assert_eq!(new, before as u64 * MSS);
                    cells[start..end].iter_mut().for_each(|cell| cell.sacked = true);
                }
                4 => {
                    board.judge_by_count(3, MSS);
                    let lost: Vec<bool> = (0..LENGTH).map(|at| lost_by_count(&cells, una, at)).collect();
                    cells.iter_mut().zip(lost).for_each(|(cell, lost)| cell.lost |= lost && !cell.sacked);
                }
                5 | 6 => {
                    if let Some(bytes) = board.first_waiting().or_else(|| board.first_doubtful()) {
                        board.resend(bytes.start..bytes.start + MSS, Time::ZERO);
                        cells[(bytes.start / MSS) as usize].resent = true;
                    }
                }
                7 if random.below(6) == 0 => {
                    board.lose_all(LENGTH as u64 * MSS, Time::ZERO);
                    cells.iter_mut().filter(|cell| !cell.sacked).for_each(|cell| {
                        (cell.lost, cell.resent) = (true, false);
                    });
                }
                _ => {
                    let run = cells[una..].iter().skip(1).take_while(|cell| cell.sacked).count();
                    let known = cells[una..=una + run].iter().filter(|cell| cell.sacked).count() as u64;
                    una += 1 + run;
                    assert_eq!(board.advance(una as u64 * MSS).bytes, known * MSS);
                }
            }
            compare(&board, &cells, una);
        }
    }
}
