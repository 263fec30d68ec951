; The bounds query of chosen, with its holes open. sat: there is an answer for some inputs. The
; parameters and the windows are free: assert what they are to ask for their answer.
(set-logic UFLIA)
(define-fun |wrap int32| ((a Int)) Int (ite (and (<= (- 2147483648) a) (<= a 2147483647)) a (+ (mod (- a (- 2147483648)) 4294967296) (- 2147483648))))
(define-fun |max| ((a Int) (b Int)) Int (ite (> a b) a b))
(declare-fun |f.extent.0| () Int)
(declare-fun |f.extent.1| () Int)
(declare-fun |f.min.0| () Int)
(declare-fun |f.min.1| () Int)
(declare-fun |param p| () Int)
(declare-fun |?cpu f.s0.x.min| () Int)
(declare-fun |?cpu f.s0.x.len| () Int)
(declare-fun |?cpu f.s0.y.min| () Int)
(declare-fun |?cpu f.s0.y.len| () Int)
(declare-fun |?mem f.x.min| () Int)
(declare-fun |?mem f.x.len| () Int)
(declare-fun |?mem f.y.min| () Int)
(declare-fun |?mem f.y.len| () Int)
(declare-fun |?cpu g.s0.x.min| (Int) Int)
(declare-fun |?cpu g.s0.x.len| (Int) Int)
(declare-fun |?cpu g.s0.y.min| (Int) Int)
(declare-fun |?cpu g.s0.y.len| (Int) Int)
(declare-fun |?mem g.x.min| (Int) Int)
(declare-fun |?mem g.x.len| (Int) Int)
(declare-fun |?mem g.y.min| (Int) Int)
(declare-fun |?mem g.y.len| (Int) Int)
(assert (and (<= 0 |f.extent.0|) (<= |f.extent.0| 2147483647)))
(assert (and (<= 0 |f.extent.1|) (<= |f.extent.1| 2147483647)))
(assert (and (<= (- 2147483648) |f.min.0|) (<= |f.min.0| 2147483647)))
(assert (and (<= (- 2147483648) |f.min.1|) (<= |f.min.1| 2147483647)))
(assert (and (<= 1 |param p|) (<= |param p| 4)))

; window of f in ?cpu f.s0   [window]
(assert (! (or (or (<= |f.extent.0| 0) (<= |f.extent.1| 0)) (and (and (<= |?cpu f.s0.x.min| |f.min.0|) (<= (+ |f.min.0| |f.extent.0|) (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|))) (and (<= |?cpu f.s0.y.min| |f.min.1|) (<= (+ |f.min.1| |f.extent.1|) (+ |?cpu f.s0.y.min| |?cpu f.s0.y.len|))))) :named c1))

; 0 <= (?cpu f.s0.y.len + 2)/3   [length]
(assert (! (<= 0 (div (+ |?cpu f.s0.y.len| 2) 3)) :named c2))

; forall f.s0.y.yo in (0, (?cpu f.s0.y.len + 2)/3): forall f.s0.y.yi in (0, 3): let f.s0.y = ?cpu f.s0.y.min + f.s0.y.yo*3 + f.s0.y.yi: f.s0.y < ?cpu f.s0.y.min + ?cpu f.s0.y.len => 0 <= ?cpu f.s0.x.len   [length]
(assert (! (forall ((|f.s0.y.yo| Int)) (=> (and (<= 0 |f.s0.y.yo|) (< |f.s0.y.yo| (div (+ |?cpu f.s0.y.len| 2) 3))) (forall ((|f.s0.y.yi| Int)) (=> (and (<= 0 |f.s0.y.yi|) (< |f.s0.y.yi| 3)) (let ((|f.s0.y| (+ (+ |?cpu f.s0.y.min| (* |f.s0.y.yo| 3)) |f.s0.y.yi|))) (=> (< |f.s0.y| (+ |?cpu f.s0.y.min| |?cpu f.s0.y.len|)) (<= 0 |?cpu f.s0.x.len|))))))) :named c3))

; forall f.s0.x in (?cpu f.s0.x.min, ?cpu f.s0.x.len): forall f.s0.y in (?cpu f.s0.y.min, ?cpu f.s0.y.len): let f.s0.y.yo = (f.s0.y - ?cpu f.s0.y.min)/3: let f.s0.y.yi = f.s0.y - ?cpu f.s0.y.min - f.s0.y.yo*3: (f.s0.y.yo, f.s0.y.yi, f.s0.x) is an iteration of f.s0   [loops]
(assert (! (forall ((|f.s0.x| Int)) (=> (and (<= |?cpu f.s0.x.min| |f.s0.x|) (< |f.s0.x| (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|))) (forall ((|f.s0.y| Int)) (=> (and (<= |?cpu f.s0.y.min| |f.s0.y|) (< |f.s0.y| (+ |?cpu f.s0.y.min| |?cpu f.s0.y.len|))) (let ((|f.s0.y.yo| (div (- |f.s0.y| |?cpu f.s0.y.min|) 3))) (let ((|f.s0.y.yi| (- (- |f.s0.y| |?cpu f.s0.y.min|) (* |f.s0.y.yo| 3)))) (and (and (and (and (<= 0 |f.s0.y.yo|) (< |f.s0.y.yo| (div (+ |?cpu f.s0.y.len| 2) 3))) (and (<= 0 |f.s0.y.yi|) (< |f.s0.y.yi| 3))) (= |f.s0.y| (+ (+ |?cpu f.s0.y.min| (* |f.s0.y.yo| 3)) |f.s0.y.yi|))) (< |f.s0.y| (+ |?cpu f.s0.y.min| |?cpu f.s0.y.len|))))))))) :named c4))

; forall f.s0.y.yo in (0, (?cpu f.s0.y.len + 2)/3): forall f.s0.y.yi in (0, 3): let f.s0.y = ?cpu f.s0.y.min + f.s0.y.yo*3 + f.s0.y.yi: f.s0.y < ?cpu f.s0.y.min + ?cpu f.s0.y.len => forall f.s0.x in (?cpu f.s0.x.min, ?cpu f.s0.x.len): f[f.s0.x, f.s0.y] in ?mem f   [write]
(assert (! (forall ((|f.s0.y.yo| Int)) (=> (and (<= 0 |f.s0.y.yo|) (< |f.s0.y.yo| (div (+ |?cpu f.s0.y.len| 2) 3))) (forall ((|f.s0.y.yi| Int)) (=> (and (<= 0 |f.s0.y.yi|) (< |f.s0.y.yi| 3)) (let ((|f.s0.y| (+ (+ |?cpu f.s0.y.min| (* |f.s0.y.yo| 3)) |f.s0.y.yi|))) (=> (< |f.s0.y| (+ |?cpu f.s0.y.min| |?cpu f.s0.y.len|)) (forall ((|f.s0.x| Int)) (=> (and (<= |?cpu f.s0.x.min| |f.s0.x|) (< |f.s0.x| (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|))) (and (and (<= |?mem f.x.min| |f.s0.x|) (< |f.s0.x| (+ |?mem f.x.min| |?mem f.x.len|))) (and (<= |?mem f.y.min| |f.s0.y|) (< |f.s0.y| (+ |?mem f.y.min| |?mem f.y.len|)))))))))))) :named c5))

; ?cpu f.s0 in ?mem f   [memory]
(assert (! (or (or (<= |?cpu f.s0.x.len| 0) (<= |?cpu f.s0.y.len| 0)) (and (and (<= |?mem f.x.min| |?cpu f.s0.x.min|) (<= (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|) (+ |?mem f.x.min| |?mem f.x.len|))) (and (<= |?mem f.y.min| |?cpu f.s0.y.min|) (<= (+ |?cpu f.s0.y.min| |?cpu f.s0.y.len|) (+ |?mem f.y.min| |?mem f.y.len|))))) :named c6))

; forall f.s0.y.yi in (0, 3): let f.s0.y = ?cpu f.s0.y.min + f.s0.y.yo*3 + f.s0.y.yi: f.s0.y < ?cpu f.s0.y.min + ?cpu f.s0.y.len => forall f.s0.x in (?cpu f.s0.x.min, ?cpu f.s0.x.len): g[f.s0.x - 3 | f.s0.x | select(int32(f.s0.x) < 4, f.s0.x, 4), f.s0.y + int64(p) | f.s0.y | max(f.s0.y, int64(p))] in ?cpu g.s0   [value]
(assert (! (forall ((|f.s0.y.yo| Int)) (=> (and (<= 0 |f.s0.y.yo|) (< |f.s0.y.yo| (div (+ |?cpu f.s0.y.len| 2) 3))) (forall ((|f.s0.y.yi| Int)) (=> (and (<= 0 |f.s0.y.yi|) (< |f.s0.y.yi| 3)) (let ((|f.s0.y| (+ (+ |?cpu f.s0.y.min| (* |f.s0.y.yo| 3)) |f.s0.y.yi|))) (=> (< |f.s0.y| (+ |?cpu f.s0.y.min| |?cpu f.s0.y.len|)) (forall ((|f.s0.x| Int)) (=> (and (<= |?cpu f.s0.x.min| |f.s0.x|) (< |f.s0.x| (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|))) (let ((|t!1| (- |f.s0.x| 3))) (let ((|t!2| (+ (|?cpu g.s0.x.min| |f.s0.y.yo|) (|?cpu g.s0.x.len| |f.s0.y.yo|)))) (let ((|t!3| (ite (< (|wrap int32| |f.s0.x|) 4) |f.s0.x| 4))) (let ((|t!4| |param p|)) (let ((|t!5| (+ |f.s0.y| |t!4|))) (let ((|t!6| (+ (|?cpu g.s0.y.min| |f.s0.y.yo|) (|?cpu g.s0.y.len| |f.s0.y.yo|)))) (let ((|t!7| (|max| |f.s0.y| |t!4|))) (and (and (and (and (and (and (<= (|?cpu g.s0.x.min| |f.s0.y.yo|) |t!1|) (< |t!1| |t!2|)) (and (<= (|?cpu g.s0.x.min| |f.s0.y.yo|) |f.s0.x|) (< |f.s0.x| |t!2|))) (and (<= (|?cpu g.s0.x.min| |f.s0.y.yo|) |t!3|) (< |t!3| |t!2|))) (and (<= (|?cpu g.s0.y.min| |f.s0.y.yo|) |t!5|) (< |t!5| |t!6|))) (and (<= (|?cpu g.s0.y.min| |f.s0.y.yo|) |f.s0.y|) (< |f.s0.y| |t!6|))) (and (<= (|?cpu g.s0.y.min| |f.s0.y.yo|) |t!7|) (< |t!7| |t!6|)))))))))))))))))) :named c7))

; 0 <= ?cpu g.s0.y.len   [length]
(assert (! (forall ((|f.s0.y.yo| Int)) (=> (and (<= 0 |f.s0.y.yo|) (< |f.s0.y.yo| (div (+ |?cpu f.s0.y.len| 2) 3))) (<= 0 (|?cpu g.s0.y.len| |f.s0.y.yo|)))) :named c8))

; forall g.s0.y in (?cpu g.s0.y.min, ?cpu g.s0.y.len): 0 <= ?cpu g.s0.x.len   [length]
(assert (! (forall ((|f.s0.y.yo| Int)) (=> (and (<= 0 |f.s0.y.yo|) (< |f.s0.y.yo| (div (+ |?cpu f.s0.y.len| 2) 3))) (forall ((|g.s0.y| Int)) (=> (and (<= (|?cpu g.s0.y.min| |f.s0.y.yo|) |g.s0.y|) (< |g.s0.y| (+ (|?cpu g.s0.y.min| |f.s0.y.yo|) (|?cpu g.s0.y.len| |f.s0.y.yo|)))) (<= 0 (|?cpu g.s0.x.len| |f.s0.y.yo|)))))) :named c9))

; forall g.s0.x in (?cpu g.s0.x.min, ?cpu g.s0.x.len): forall g.s0.y in (?cpu g.s0.y.min, ?cpu g.s0.y.len): (g.s0.y, g.s0.x) is an iteration of g.s0   [loops]
(assert (! (forall ((|f.s0.y.yo| Int)) (=> (and (<= 0 |f.s0.y.yo|) (< |f.s0.y.yo| (div (+ |?cpu f.s0.y.len| 2) 3))) (forall ((|g.s0.x| Int)) (=> (and (<= (|?cpu g.s0.x.min| |f.s0.y.yo|) |g.s0.x|) (< |g.s0.x| (+ (|?cpu g.s0.x.min| |f.s0.y.yo|) (|?cpu g.s0.x.len| |f.s0.y.yo|)))) (forall ((|g.s0.y| Int)) (=> (and (<= (|?cpu g.s0.y.min| |f.s0.y.yo|) |g.s0.y|) (< |g.s0.y| (+ (|?cpu g.s0.y.min| |f.s0.y.yo|) (|?cpu g.s0.y.len| |f.s0.y.yo|)))) true)))))) :named c10))

; forall g.s0.y in (?cpu g.s0.y.min, ?cpu g.s0.y.len): forall g.s0.x in (?cpu g.s0.x.min, ?cpu g.s0.x.len): g[g.s0.x, g.s0.y] in ?mem g   [write]
(assert (! (forall ((|f.s0.y.yo| Int)) (=> (and (<= 0 |f.s0.y.yo|) (< |f.s0.y.yo| (div (+ |?cpu f.s0.y.len| 2) 3))) (forall ((|g.s0.y| Int)) (=> (and (<= (|?cpu g.s0.y.min| |f.s0.y.yo|) |g.s0.y|) (< |g.s0.y| (+ (|?cpu g.s0.y.min| |f.s0.y.yo|) (|?cpu g.s0.y.len| |f.s0.y.yo|)))) (forall ((|g.s0.x| Int)) (=> (and (<= (|?cpu g.s0.x.min| |f.s0.y.yo|) |g.s0.x|) (< |g.s0.x| (+ (|?cpu g.s0.x.min| |f.s0.y.yo|) (|?cpu g.s0.x.len| |f.s0.y.yo|)))) (and (and (<= (|?mem g.x.min| |f.s0.y.yo|) |g.s0.x|) (< |g.s0.x| (+ (|?mem g.x.min| |f.s0.y.yo|) (|?mem g.x.len| |f.s0.y.yo|)))) (and (<= (|?mem g.y.min| |f.s0.y.yo|) |g.s0.y|) (< |g.s0.y| (+ (|?mem g.y.min| |f.s0.y.yo|) (|?mem g.y.len| |f.s0.y.yo|))))))))))) :named c11))

; ?cpu g.s0 in ?mem g   [memory]
(assert (! (forall ((|f.s0.y.yo| Int)) (=> (and (<= 0 |f.s0.y.yo|) (< |f.s0.y.yo| (div (+ |?cpu f.s0.y.len| 2) 3))) (or (or (<= (|?cpu g.s0.x.len| |f.s0.y.yo|) 0) (<= (|?cpu g.s0.y.len| |f.s0.y.yo|) 0)) (and (and (<= (|?mem g.x.min| |f.s0.y.yo|) (|?cpu g.s0.x.min| |f.s0.y.yo|)) (<= (+ (|?cpu g.s0.x.min| |f.s0.y.yo|) (|?cpu g.s0.x.len| |f.s0.y.yo|)) (+ (|?mem g.x.min| |f.s0.y.yo|) (|?mem g.x.len| |f.s0.y.yo|)))) (and (<= (|?mem g.y.min| |f.s0.y.yo|) (|?cpu g.s0.y.min| |f.s0.y.yo|)) (<= (+ (|?cpu g.s0.y.min| |f.s0.y.yo|) (|?cpu g.s0.y.len| |f.s0.y.yo|)) (+ (|?mem g.y.min| |f.s0.y.yo|) (|?mem g.y.len| |f.s0.y.yo|)))))))) :named c12))

(check-sat)

; The bounds query of chosen, with its answers in place of the holes. Every check must say unsat:
; no inputs and no memory make a conjunct fail. The first assertions are what a run may take for granted:
; the ranges of its arguments and the start-up checks.
(set-logic QF_UFLIA)
(define-fun |min| ((a Int) (b Int)) Int (ite (< a b) a b))
(define-fun |max| ((a Int) (b Int)) Int (ite (> a b) a b))
(define-fun |wrap int32| ((a Int)) Int (ite (and (<= (- 2147483648) a) (<= a 2147483647)) a (+ (mod (- a (- 2147483648)) 4294967296) (- 2147483648))))
(declare-fun |f.min.0| () Int)
(declare-fun |f.extent.0| () Int)
(declare-fun |f.min.1| () Int)
(declare-fun |f.extent.1| () Int)
(declare-fun |param p| () Int)
(define-fun |?cpu f.s0.x.min| () Int |f.min.0|)
(define-fun |?cpu f.s0.x.len| () Int |f.extent.0|)
(define-fun |?cpu f.s0.y.min| () Int |f.min.1|)
(define-fun |?cpu f.s0.y.len| () Int |f.extent.1|)
(define-fun |?cpu g.s0.x.min| ((|f.s0.y.yo| Int)) Int (|min| (- |f.min.0| 3) (|min| |f.min.0| 4)))
(define-fun |?cpu g.s0.x.len| ((|f.s0.y.yo| Int)) Int (- (+ |f.min.0| |f.extent.0|) (|min| (- |f.min.0| 3) (|min| |f.min.0| 4))))
(define-fun |?cpu g.s0.y.min| ((|f.s0.y.yo| Int)) Int (+ |f.min.1| (* |f.s0.y.yo| 3)))
(define-fun |?cpu g.s0.y.len| ((|f.s0.y.yo| Int)) Int (let ((|t!1| (* |f.s0.y.yo| 3))) (let ((|t!2| (+ |f.min.1| (|min| (+ |t!1| 3) |f.extent.1|)))) (let ((|t!3| |param p|)) (+ (- (- (|max| (- (+ |t!2| |t!3|) 1) (|max| (- |t!2| 1) |t!3|)) |f.min.1|) |t!1|) 1)))))
(define-fun |?mem g.x.min| ((|f.s0.y.yo| Int)) Int (|min| (- |f.min.0| 3) (|min| |f.min.0| 4)))
(define-fun |?mem g.x.len| ((|f.s0.y.yo| Int)) Int (- (+ |f.min.0| |f.extent.0|) (|min| (- |f.min.0| 3) (|min| |f.min.0| 4))))
(define-fun |?mem g.y.min| ((|f.s0.y.yo| Int)) Int (+ |f.min.1| (* |f.s0.y.yo| 3)))
(define-fun |?mem g.y.len| ((|f.s0.y.yo| Int)) Int (let ((|t!4| (* |f.s0.y.yo| 3))) (let ((|t!5| (+ |f.min.1| (|min| (+ |t!4| 3) |f.extent.1|)))) (let ((|t!6| |param p|)) (+ (- (- (|max| (- (+ |t!5| |t!6|) 1) (|max| (- |t!5| 1) |t!6|)) |f.min.1|) |t!4|) 1)))))
(define-fun |?mem f.x.min| () Int |f.min.0|)
(define-fun |?mem f.x.len| () Int |f.extent.0|)
(define-fun |?mem f.y.min| () Int |f.min.1|)
(define-fun |?mem f.y.len| () Int |f.extent.1|)
(assert (and (<= (- 2147483648) |f.min.0|) (<= |f.min.0| 2147483647)))
(assert (and (<= 0 |f.extent.0|) (<= |f.extent.0| 2147483647)))
(assert (and (<= (- 2147483648) |f.min.1|) (<= |f.min.1| 2147483647)))
(assert (and (<= 0 |f.extent.1|) (<= |f.extent.1| 2147483647)))
(assert (and (<= 1 |param p|) (<= |param p| 4)))
(assert (< 0 |f.extent.0|))
(assert (< 0 |f.extent.1|))
(assert (and (<= (- 1073741824) |f.min.0|) (<= (- (+ |f.min.0| |f.extent.0|) 1) 1073741824)))
(assert (and (<= (- 1073741824) |f.min.1|) (<= (- (+ |f.min.1| |f.extent.1|) 1) 1073741824)))

; window of f in ?cpu f.s0   [window]
(push 1)
(assert (not (or (or (<= |f.extent.0| 0) (<= |f.extent.1| 0)) (and (and (<= |?cpu f.s0.x.min| |f.min.0|) (<= (+ |f.min.0| |f.extent.0|) (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|))) (and (<= |?cpu f.s0.y.min| |f.min.1|) (<= (+ |f.min.1| |f.extent.1|) (+ |?cpu f.s0.y.min| |?cpu f.s0.y.len|)))))))
(check-sat)
(pop 1)

; 0 <= (?cpu f.s0.y.len + 2)/3   [length]
(push 1)
(assert (not (<= 0 (div (+ |?cpu f.s0.y.len| 2) 3))))
(check-sat)
(pop 1)

; forall f.s0.y.yo in (0, (?cpu f.s0.y.len + 2)/3): forall f.s0.y.yi in (0, 3): let f.s0.y = ?cpu f.s0.y.min + f.s0.y.yo*3 + f.s0.y.yi: f.s0.y < ?cpu f.s0.y.min + ?cpu f.s0.y.len => 0 <= ?cpu f.s0.x.len   [length]
(push 1)
(declare-const |f.s0.y.yo| Int)
(assert (<= 0 |f.s0.y.yo|))
(assert (< |f.s0.y.yo| (div (+ |?cpu f.s0.y.len| 2) 3)))
(declare-const |f.s0.y.yi| Int)
(assert (<= 0 |f.s0.y.yi|))
(assert (< |f.s0.y.yi| 3))
(define-fun |f.s0.y| () Int (+ (+ |?cpu f.s0.y.min| (* |f.s0.y.yo| 3)) |f.s0.y.yi|))
(assert (< |f.s0.y| (+ |?cpu f.s0.y.min| |?cpu f.s0.y.len|)))
(assert (not (<= 0 |?cpu f.s0.x.len|)))
(check-sat)
(pop 1)

; forall f.s0.x in (?cpu f.s0.x.min, ?cpu f.s0.x.len): forall f.s0.y in (?cpu f.s0.y.min, ?cpu f.s0.y.len): let f.s0.y.yo = (f.s0.y - ?cpu f.s0.y.min)/3: let f.s0.y.yi = f.s0.y - ?cpu f.s0.y.min - f.s0.y.yo*3: (f.s0.y.yo, f.s0.y.yi, f.s0.x) is an iteration of f.s0   [loops]
(push 1)
(declare-const |f.s0.x| Int)
(assert (<= |?cpu f.s0.x.min| |f.s0.x|))
(assert (< |f.s0.x| (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|)))
(declare-const |f.s0.y| Int)
(assert (<= |?cpu f.s0.y.min| |f.s0.y|))
(assert (< |f.s0.y| (+ |?cpu f.s0.y.min| |?cpu f.s0.y.len|)))
(define-fun |f.s0.y.yo| () Int (div (- |f.s0.y| |?cpu f.s0.y.min|) 3))
(define-fun |f.s0.y.yi| () Int (- (- |f.s0.y| |?cpu f.s0.y.min|) (* |f.s0.y.yo| 3)))
(assert (not (and (and (and (and (<= 0 |f.s0.y.yo|) (< |f.s0.y.yo| (div (+ |?cpu f.s0.y.len| 2) 3))) (and (<= 0 |f.s0.y.yi|) (< |f.s0.y.yi| 3))) (= |f.s0.y| (+ (+ |?cpu f.s0.y.min| (* |f.s0.y.yo| 3)) |f.s0.y.yi|))) (< |f.s0.y| (+ |?cpu f.s0.y.min| |?cpu f.s0.y.len|)))))
(check-sat)
(pop 1)

; forall f.s0.y.yo in (0, (?cpu f.s0.y.len + 2)/3): forall f.s0.y.yi in (0, 3): let f.s0.y = ?cpu f.s0.y.min + f.s0.y.yo*3 + f.s0.y.yi: f.s0.y < ?cpu f.s0.y.min + ?cpu f.s0.y.len => forall f.s0.x in (?cpu f.s0.x.min, ?cpu f.s0.x.len): f[f.s0.x, f.s0.y] in ?mem f   [write]
(push 1)
(declare-const |f.s0.y.yo| Int)
(assert (<= 0 |f.s0.y.yo|))
(assert (< |f.s0.y.yo| (div (+ |?cpu f.s0.y.len| 2) 3)))
(declare-const |f.s0.y.yi| Int)
(assert (<= 0 |f.s0.y.yi|))
(assert (< |f.s0.y.yi| 3))
(define-fun |f.s0.y| () Int (+ (+ |?cpu f.s0.y.min| (* |f.s0.y.yo| 3)) |f.s0.y.yi|))
(assert (< |f.s0.y| (+ |?cpu f.s0.y.min| |?cpu f.s0.y.len|)))
(declare-const |f.s0.x| Int)
(assert (<= |?cpu f.s0.x.min| |f.s0.x|))
(assert (< |f.s0.x| (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|)))
(assert (not (and (and (<= |?mem f.x.min| |f.s0.x|) (< |f.s0.x| (+ |?mem f.x.min| |?mem f.x.len|))) (and (<= |?mem f.y.min| |f.s0.y|) (< |f.s0.y| (+ |?mem f.y.min| |?mem f.y.len|))))))
(check-sat)
(pop 1)

; ?cpu f.s0 in ?mem f   [memory]
(push 1)
(assert (not (or (or (<= |?cpu f.s0.x.len| 0) (<= |?cpu f.s0.y.len| 0)) (and (and (<= |?mem f.x.min| |?cpu f.s0.x.min|) (<= (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|) (+ |?mem f.x.min| |?mem f.x.len|))) (and (<= |?mem f.y.min| |?cpu f.s0.y.min|) (<= (+ |?cpu f.s0.y.min| |?cpu f.s0.y.len|) (+ |?mem f.y.min| |?mem f.y.len|)))))))
(check-sat)
(pop 1)

; forall f.s0.y.yi in (0, 3): let f.s0.y = ?cpu f.s0.y.min + f.s0.y.yo*3 + f.s0.y.yi: f.s0.y < ?cpu f.s0.y.min + ?cpu f.s0.y.len => forall f.s0.x in (?cpu f.s0.x.min, ?cpu f.s0.x.len): g[f.s0.x - 3 | f.s0.x | select(int32(f.s0.x) < 4, f.s0.x, 4), f.s0.y + int64(p) | f.s0.y | max(f.s0.y, int64(p))] in ?cpu g.s0   [value]
(push 1)
(declare-const |f.s0.y.yo| Int)
(assert (<= 0 |f.s0.y.yo|))
(assert (< |f.s0.y.yo| (div (+ |?cpu f.s0.y.len| 2) 3)))
(declare-const |f.s0.y.yi| Int)
(assert (<= 0 |f.s0.y.yi|))
(assert (< |f.s0.y.yi| 3))
(define-fun |f.s0.y| () Int (+ (+ |?cpu f.s0.y.min| (* |f.s0.y.yo| 3)) |f.s0.y.yi|))
(assert (< |f.s0.y| (+ |?cpu f.s0.y.min| |?cpu f.s0.y.len|)))
(declare-const |f.s0.x| Int)
(assert (<= |?cpu f.s0.x.min| |f.s0.x|))
(assert (< |f.s0.x| (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|)))
(assert (not (let ((|t!7| (- |f.s0.x| 3))) (let ((|t!8| (+ (|?cpu g.s0.x.min| |f.s0.y.yo|) (|?cpu g.s0.x.len| |f.s0.y.yo|)))) (let ((|t!9| (ite (< (|wrap int32| |f.s0.x|) 4) |f.s0.x| 4))) (let ((|t!10| |param p|)) (let ((|t!11| (+ |f.s0.y| |t!10|))) (let ((|t!12| (+ (|?cpu g.s0.y.min| |f.s0.y.yo|) (|?cpu g.s0.y.len| |f.s0.y.yo|)))) (let ((|t!13| (|max| |f.s0.y| |t!10|))) (and (and (and (and (and (and (<= (|?cpu g.s0.x.min| |f.s0.y.yo|) |t!7|) (< |t!7| |t!8|)) (and (<= (|?cpu g.s0.x.min| |f.s0.y.yo|) |f.s0.x|) (< |f.s0.x| |t!8|))) (and (<= (|?cpu g.s0.x.min| |f.s0.y.yo|) |t!9|) (< |t!9| |t!8|))) (and (<= (|?cpu g.s0.y.min| |f.s0.y.yo|) |t!11|) (< |t!11| |t!12|))) (and (<= (|?cpu g.s0.y.min| |f.s0.y.yo|) |f.s0.y|) (< |f.s0.y| |t!12|))) (and (<= (|?cpu g.s0.y.min| |f.s0.y.yo|) |t!13|) (< |t!13| |t!12|))))))))))))
(check-sat)
(pop 1)

; 0 <= ?cpu g.s0.y.len   [length]
(push 1)
(declare-const |f.s0.y.yo| Int)
(assert (<= 0 |f.s0.y.yo|))
(assert (< |f.s0.y.yo| (div (+ |?cpu f.s0.y.len| 2) 3)))
(assert (not (<= 0 (|?cpu g.s0.y.len| |f.s0.y.yo|))))
(check-sat)
(pop 1)

; forall g.s0.y in (?cpu g.s0.y.min, ?cpu g.s0.y.len): 0 <= ?cpu g.s0.x.len   [length]
(push 1)
(declare-const |f.s0.y.yo| Int)
(assert (<= 0 |f.s0.y.yo|))
(assert (< |f.s0.y.yo| (div (+ |?cpu f.s0.y.len| 2) 3)))
(declare-const |g.s0.y| Int)
(assert (<= (|?cpu g.s0.y.min| |f.s0.y.yo|) |g.s0.y|))
(assert (< |g.s0.y| (+ (|?cpu g.s0.y.min| |f.s0.y.yo|) (|?cpu g.s0.y.len| |f.s0.y.yo|))))
(assert (not (<= 0 (|?cpu g.s0.x.len| |f.s0.y.yo|))))
(check-sat)
(pop 1)

; forall g.s0.x in (?cpu g.s0.x.min, ?cpu g.s0.x.len): forall g.s0.y in (?cpu g.s0.y.min, ?cpu g.s0.y.len): (g.s0.y, g.s0.x) is an iteration of g.s0   [loops]
(push 1)
(declare-const |f.s0.y.yo| Int)
(assert (<= 0 |f.s0.y.yo|))
(assert (< |f.s0.y.yo| (div (+ |?cpu f.s0.y.len| 2) 3)))
(declare-const |g.s0.x| Int)
(assert (<= (|?cpu g.s0.x.min| |f.s0.y.yo|) |g.s0.x|))
(assert (< |g.s0.x| (+ (|?cpu g.s0.x.min| |f.s0.y.yo|) (|?cpu g.s0.x.len| |f.s0.y.yo|))))
(declare-const |g.s0.y| Int)
(assert (<= (|?cpu g.s0.y.min| |f.s0.y.yo|) |g.s0.y|))
(assert (< |g.s0.y| (+ (|?cpu g.s0.y.min| |f.s0.y.yo|) (|?cpu g.s0.y.len| |f.s0.y.yo|))))
(assert (not true))
(check-sat)
(pop 1)

; forall g.s0.y in (?cpu g.s0.y.min, ?cpu g.s0.y.len): forall g.s0.x in (?cpu g.s0.x.min, ?cpu g.s0.x.len): g[g.s0.x, g.s0.y] in ?mem g   [write]
(push 1)
(declare-const |f.s0.y.yo| Int)
(assert (<= 0 |f.s0.y.yo|))
(assert (< |f.s0.y.yo| (div (+ |?cpu f.s0.y.len| 2) 3)))
(declare-const |g.s0.y| Int)
(assert (<= (|?cpu g.s0.y.min| |f.s0.y.yo|) |g.s0.y|))
(assert (< |g.s0.y| (+ (|?cpu g.s0.y.min| |f.s0.y.yo|) (|?cpu g.s0.y.len| |f.s0.y.yo|))))
(declare-const |g.s0.x| Int)
(assert (<= (|?cpu g.s0.x.min| |f.s0.y.yo|) |g.s0.x|))
(assert (< |g.s0.x| (+ (|?cpu g.s0.x.min| |f.s0.y.yo|) (|?cpu g.s0.x.len| |f.s0.y.yo|))))
(assert (not (and (and (<= (|?mem g.x.min| |f.s0.y.yo|) |g.s0.x|) (< |g.s0.x| (+ (|?mem g.x.min| |f.s0.y.yo|) (|?mem g.x.len| |f.s0.y.yo|)))) (and (<= (|?mem g.y.min| |f.s0.y.yo|) |g.s0.y|) (< |g.s0.y| (+ (|?mem g.y.min| |f.s0.y.yo|) (|?mem g.y.len| |f.s0.y.yo|)))))))
(check-sat)
(pop 1)

; ?cpu g.s0 in ?mem g   [memory]
(push 1)
(declare-const |f.s0.y.yo| Int)
(assert (<= 0 |f.s0.y.yo|))
(assert (< |f.s0.y.yo| (div (+ |?cpu f.s0.y.len| 2) 3)))
(assert (not (or (or (<= (|?cpu g.s0.x.len| |f.s0.y.yo|) 0) (<= (|?cpu g.s0.y.len| |f.s0.y.yo|) 0)) (and (and (<= (|?mem g.x.min| |f.s0.y.yo|) (|?cpu g.s0.x.min| |f.s0.y.yo|)) (<= (+ (|?cpu g.s0.x.min| |f.s0.y.yo|) (|?cpu g.s0.x.len| |f.s0.y.yo|)) (+ (|?mem g.x.min| |f.s0.y.yo|) (|?mem g.x.len| |f.s0.y.yo|)))) (and (<= (|?mem g.y.min| |f.s0.y.yo|) (|?cpu g.s0.y.min| |f.s0.y.yo|)) (<= (+ (|?cpu g.s0.y.min| |f.s0.y.yo|) (|?cpu g.s0.y.len| |f.s0.y.yo|)) (+ (|?mem g.y.min| |f.s0.y.yo|) (|?mem g.y.len| |f.s0.y.yo|))))))))
(check-sat)
(pop 1)

; ?mem f in the buffer f   [memory]
(push 1)
(assert (not (or (or (<= |?mem f.x.len| 0) (<= |?mem f.y.len| 0)) (and (and (<= |f.min.0| |?mem f.x.min|) (<= (+ |?mem f.x.min| |?mem f.x.len|) (+ |f.min.0| |f.extent.0|))) (and (<= |f.min.1| |?mem f.y.min|) (<= (+ |?mem f.y.min| |?mem f.y.len|) (+ |f.min.1| |f.extent.1|)))))))
(check-sat)
(pop 1)
