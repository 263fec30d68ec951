; The bounds query of by_param, with its holes open. sat: there is an answer for some inputs. The
; parameters and the windows are free: assert what they are to ask for their answer.
(set-logic UFNIA)
(define-fun |div by| ((a Int) (b Int)) Int (ite (= b 0) 0 (div a b)))
(define-fun |min| ((a Int) (b Int)) Int (ite (< a b) a b))
(declare-fun |out.extent.0| () Int)
(declare-fun |out.min.0| () Int)
(declare-fun |param p| () Int)
(declare-fun |param n| () Int)
(declare-fun |?cpu out.s0.x.min| () Int)
(declare-fun |?cpu out.s0.x.len| () Int)
(declare-fun |?mem out.x.min| () Int)
(declare-fun |?mem out.x.len| () Int)
(declare-fun |?cpu f.s1.x.min| (Int) Int)
(declare-fun |?cpu f.s1.x.len| (Int) Int)
(declare-fun |?cpu f.s0.x.min| (Int) Int)
(declare-fun |?cpu f.s0.x.len| (Int) Int)
(declare-fun |?mem f.x.min| (Int) Int)
(declare-fun |?mem f.x.len| (Int) Int)
(declare-fun |?cpu g.s0.x.min| (Int) Int)
(declare-fun |?cpu g.s0.x.len| (Int) Int)
(declare-fun |?mem g.x.min| (Int) Int)
(declare-fun |?mem g.x.len| (Int) Int)
(assert (and (<= 0 |out.extent.0|) (<= |out.extent.0| 2147483647)))
(assert (and (<= (- 2147483648) |out.min.0|) (<= |out.min.0| 2147483647)))
(assert (and (<= (- 2147483648) |param p|) (<= |param p| 2147483647)))
(assert (and (<= (- 2147483648) |param n|) (<= |param n| 2147483647)))

; window of out in ?cpu out.s0   [window]
(assert (! (or (<= |out.extent.0| 0) (and (<= |?cpu out.s0.x.min| |out.min.0|) (<= (+ |out.min.0| |out.extent.0|) (+ |?cpu out.s0.x.min| |?cpu out.s0.x.len|)))) :named c1))

; 0 < int64(p)   [assert: out.split(x, xo, xi, p, TailStrategy.ShiftInwards)]
(assert (! (< 0 |param p|) :named c2))

; int64(p) <= ?cpu out.s0.x.len   [assert: out.split(x, xo, xi, p, TailStrategy.ShiftInwards)]
(assert (! (<= |param p| |?cpu out.s0.x.len|) :named c3))

; 0 <= (?cpu out.s0.x.len + int64(p) - 1)/int64(p)   [length]
(assert (! (let ((|t!1| |param p|)) (<= 0 (|div by| (- (+ |?cpu out.s0.x.len| |t!1|) 1) |t!1|))) :named c4))

; forall out.s0.x.xo in (0, (?cpu out.s0.x.len + int64(p) - 1)/int64(p)): 0 <= int64(p)   [length]
(assert (! (forall ((|out.s0.x.xo| Int)) (=> (and (<= 0 |out.s0.x.xo|) (let ((|t!2| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!2|) 1) |t!2|)))) (<= 0 |param p|))) :named c5))

; forall out.s0.x in (?cpu out.s0.x.min, ?cpu out.s0.x.len): let out.s0.x.xo = (out.s0.x - ?cpu out.s0.x.min)/int64(p): let out.s0.x.xi = out.s0.x - ?cpu out.s0.x.min - min(out.s0.x.xo*int64(p), ?cpu out.s0.x.len - int64(p)): (out.s0.x.xo, out.s0.x.xi) is an iteration of out.s0   [loops]
(assert (! (forall ((|out.s0.x| Int)) (=> (and (<= |?cpu out.s0.x.min| |out.s0.x|) (< |out.s0.x| (+ |?cpu out.s0.x.min| |?cpu out.s0.x.len|))) (let ((|out.s0.x.xo| (|div by| (- |out.s0.x| |?cpu out.s0.x.min|) |param p|))) (let ((|out.s0.x.xi| (let ((|t!4| |param p|)) (- (- |out.s0.x| |?cpu out.s0.x.min|) (|min| (* |out.s0.x.xo| |t!4|) (- |?cpu out.s0.x.len| |t!4|)))))) (let ((|t!3| |param p|)) (and (and (and (<= 0 |out.s0.x.xo|) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!3|) 1) |t!3|))) (and (<= 0 |out.s0.x.xi|) (< |out.s0.x.xi| |t!3|))) (= |out.s0.x| (+ (+ |?cpu out.s0.x.min| (|min| (* |out.s0.x.xo| |t!3|) (- |?cpu out.s0.x.len| |t!3|))) |out.s0.x.xi|)))))))) :named c6))

; forall out.s0.x.xo in (0, (?cpu out.s0.x.len + int64(p) - 1)/int64(p)): forall out.s0.x.xi in (0, int64(p)): let out.s0.x = ?cpu out.s0.x.min + min(out.s0.x.xo*int64(p), ?cpu out.s0.x.len - int64(p)) + out.s0.x.xi: out[out.s0.x] in ?mem out   [write]
(assert (! (forall ((|out.s0.x.xo| Int)) (=> (and (<= 0 |out.s0.x.xo|) (let ((|t!6| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!6|) 1) |t!6|)))) (forall ((|out.s0.x.xi| Int)) (=> (and (<= 0 |out.s0.x.xi|) (< |out.s0.x.xi| |param p|)) (let ((|out.s0.x| (let ((|t!5| |param p|)) (+ (+ |?cpu out.s0.x.min| (|min| (* |out.s0.x.xo| |t!5|) (- |?cpu out.s0.x.len| |t!5|))) |out.s0.x.xi|)))) (and (<= |?mem out.x.min| |out.s0.x|) (< |out.s0.x| (+ |?mem out.x.min| |?mem out.x.len|)))))))) :named c7))

; ?cpu out.s0 in ?mem out   [memory]
(assert (! (or (<= |?cpu out.s0.x.len| 0) (and (<= |?mem out.x.min| |?cpu out.s0.x.min|) (<= (+ |?cpu out.s0.x.min| |?cpu out.s0.x.len|) (+ |?mem out.x.min| |?mem out.x.len|)))) :named c8))

; forall out.s0.x.xi in (0, int64(p)): let out.s0.x = ?cpu out.s0.x.min + min(out.s0.x.xo*int64(p), ?cpu out.s0.x.len - int64(p)) + out.s0.x.xi: f[out.s0.x | out.s0.x + int64(p)] in ?cpu f.s1   [value]
(assert (! (forall ((|out.s0.x.xo| Int)) (=> (and (<= 0 |out.s0.x.xo|) (let ((|t!10| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!10|) 1) |t!10|)))) (forall ((|out.s0.x.xi| Int)) (=> (and (<= 0 |out.s0.x.xi|) (< |out.s0.x.xi| |param p|)) (let ((|out.s0.x| (let ((|t!9| |param p|)) (+ (+ |?cpu out.s0.x.min| (|min| (* |out.s0.x.xo| |t!9|) (- |?cpu out.s0.x.len| |t!9|))) |out.s0.x.xi|)))) (let ((|t!7| (+ (|?cpu f.s1.x.min| |out.s0.x.xo|) (|?cpu f.s1.x.len| |out.s0.x.xo|)))) (let ((|t!8| (+ |out.s0.x| |param p|))) (and (and (<= (|?cpu f.s1.x.min| |out.s0.x.xo|) |out.s0.x|) (< |out.s0.x| |t!7|)) (and (<= (|?cpu f.s1.x.min| |out.s0.x.xo|) |t!8|) (< |t!8| |t!7|)))))))))) :named c9))

; ?cpu f.s1 in ?cpu f.s0   [stages]
(assert (! (forall ((|out.s0.x.xo| Int)) (=> (and (<= 0 |out.s0.x.xo|) (let ((|t!11| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!11|) 1) |t!11|)))) (or (<= (|?cpu f.s1.x.len| |out.s0.x.xo|) 0) (and (<= (|?cpu f.s0.x.min| |out.s0.x.xo|) (|?cpu f.s1.x.min| |out.s0.x.xo|)) (<= (+ (|?cpu f.s1.x.min| |out.s0.x.xo|) (|?cpu f.s1.x.len| |out.s0.x.xo|)) (+ (|?cpu f.s0.x.min| |out.s0.x.xo|) (|?cpu f.s0.x.len| |out.s0.x.xo|))))))) :named c10))

; 0 <= ?cpu f.s0.x.len   [length]
(assert (! (forall ((|out.s0.x.xo| Int)) (=> (and (<= 0 |out.s0.x.xo|) (let ((|t!12| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!12|) 1) |t!12|)))) (<= 0 (|?cpu f.s0.x.len| |out.s0.x.xo|)))) :named c11))

; 0 <= int64(n) => 0 <= ?cpu f.s1.x.len   [length]
(assert (! (forall ((|out.s0.x.xo| Int)) (=> (and (<= 0 |out.s0.x.xo|) (let ((|t!13| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!13|) 1) |t!13|)))) (=> (<= 0 |param n|) (<= 0 (|?cpu f.s1.x.len| |out.s0.x.xo|))))) :named c12))

; 0 <= int64(n) => forall f.s1.x in (?cpu f.s1.x.min, ?cpu f.s1.x.len): 0 <= int64(n)   [length]
(assert (! (forall ((|out.s0.x.xo| Int)) (=> (and (<= 0 |out.s0.x.xo|) (let ((|t!14| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!14|) 1) |t!14|)))) (=> (<= 0 |param n|) (forall ((|f.s1.x| Int)) (=> (and (<= (|?cpu f.s1.x.min| |out.s0.x.xo|) |f.s1.x|) (< |f.s1.x| (+ (|?cpu f.s1.x.min| |out.s0.x.xo|) (|?cpu f.s1.x.len| |out.s0.x.xo|)))) (<= 0 |param n|)))))) :named c13))

; forall f.s0.x in (?cpu f.s0.x.min, ?cpu f.s0.x.len): (f.s0.x) is an iteration of f.s0   [loops]
(assert (! (forall ((|out.s0.x.xo| Int)) (=> (and (<= 0 |out.s0.x.xo|) (let ((|t!15| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!15|) 1) |t!15|)))) (forall ((|f.s0.x| Int)) (=> (and (<= (|?cpu f.s0.x.min| |out.s0.x.xo|) |f.s0.x|) (< |f.s0.x| (+ (|?cpu f.s0.x.min| |out.s0.x.xo|) (|?cpu f.s0.x.len| |out.s0.x.xo|)))) true)))) :named c14))

; forall f.s1.x in (?cpu f.s1.x.min, ?cpu f.s1.x.len): forall f.s1.r.x in (int64(p) - 1, int64(n)): (f.s1.x, f.s1.r.x) is an iteration of f.s1   [loops]
(assert (! (forall ((|out.s0.x.xo| Int)) (=> (and (<= 0 |out.s0.x.xo|) (let ((|t!16| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!16|) 1) |t!16|)))) (forall ((|f.s1.x| Int)) (=> (and (<= (|?cpu f.s1.x.min| |out.s0.x.xo|) |f.s1.x|) (< |f.s1.x| (+ (|?cpu f.s1.x.min| |out.s0.x.xo|) (|?cpu f.s1.x.len| |out.s0.x.xo|)))) (forall ((|f.s1.r.x| Int)) (=> (and (<= (- |param p| 1) |f.s1.r.x|) (< |f.s1.r.x| (- (+ |param p| |param n|) 1))) (<= 0 |param n|))))))) :named c15))

; forall f.s0.x in (?cpu f.s0.x.min, ?cpu f.s0.x.len): f[f.s0.x] in ?mem f   [write]
(assert (! (forall ((|out.s0.x.xo| Int)) (=> (and (<= 0 |out.s0.x.xo|) (let ((|t!17| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!17|) 1) |t!17|)))) (forall ((|f.s0.x| Int)) (=> (and (<= (|?cpu f.s0.x.min| |out.s0.x.xo|) |f.s0.x|) (< |f.s0.x| (+ (|?cpu f.s0.x.min| |out.s0.x.xo|) (|?cpu f.s0.x.len| |out.s0.x.xo|)))) (and (<= (|?mem f.x.min| |out.s0.x.xo|) |f.s0.x|) (< |f.s0.x| (+ (|?mem f.x.min| |out.s0.x.xo|) (|?mem f.x.len| |out.s0.x.xo|)))))))) :named c16))

; 0 <= int64(n) => forall f.s1.x in (?cpu f.s1.x.min, ?cpu f.s1.x.len): forall f.s1.r.x in (int64(p) - 1, int64(n)): f[f.s1.x] in ?mem f   [write]
(assert (! (forall ((|out.s0.x.xo| Int)) (=> (and (<= 0 |out.s0.x.xo|) (let ((|t!18| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!18|) 1) |t!18|)))) (=> (<= 0 |param n|) (forall ((|f.s1.x| Int)) (=> (and (<= (|?cpu f.s1.x.min| |out.s0.x.xo|) |f.s1.x|) (< |f.s1.x| (+ (|?cpu f.s1.x.min| |out.s0.x.xo|) (|?cpu f.s1.x.len| |out.s0.x.xo|)))) (forall ((|f.s1.r.x| Int)) (=> (and (<= (- |param p| 1) |f.s1.r.x|) (< |f.s1.r.x| (- (+ |param p| |param n|) 1))) (and (<= (|?mem f.x.min| |out.s0.x.xo|) |f.s1.x|) (< |f.s1.x| (+ (|?mem f.x.min| |out.s0.x.xo|) (|?mem f.x.len| |out.s0.x.xo|))))))))))) :named c17))

; ?cpu f.s0 in ?mem f   [memory]
(assert (! (forall ((|out.s0.x.xo| Int)) (=> (and (<= 0 |out.s0.x.xo|) (let ((|t!19| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!19|) 1) |t!19|)))) (or (<= (|?cpu f.s0.x.len| |out.s0.x.xo|) 0) (and (<= (|?mem f.x.min| |out.s0.x.xo|) (|?cpu f.s0.x.min| |out.s0.x.xo|)) (<= (+ (|?cpu f.s0.x.min| |out.s0.x.xo|) (|?cpu f.s0.x.len| |out.s0.x.xo|)) (+ (|?mem f.x.min| |out.s0.x.xo|) (|?mem f.x.len| |out.s0.x.xo|))))))) :named c18))

; 0 <= int64(n) => forall f.s1.x in (?cpu f.s1.x.min, ?cpu f.s1.x.len): forall f.s1.r.x in (int64(p) - 1, int64(n)): g[f.s1.x + f.s1.r.x] in ?cpu g.s0   [value]
(assert (! (forall ((|out.s0.x.xo| Int)) (=> (and (<= 0 |out.s0.x.xo|) (let ((|t!21| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!21|) 1) |t!21|)))) (=> (<= 0 |param n|) (forall ((|f.s1.x| Int)) (=> (and (<= (|?cpu f.s1.x.min| |out.s0.x.xo|) |f.s1.x|) (< |f.s1.x| (+ (|?cpu f.s1.x.min| |out.s0.x.xo|) (|?cpu f.s1.x.len| |out.s0.x.xo|)))) (forall ((|f.s1.r.x| Int)) (=> (and (<= (- |param p| 1) |f.s1.r.x|) (< |f.s1.r.x| (- (+ |param p| |param n|) 1))) (let ((|t!20| (+ |f.s1.x| |f.s1.r.x|))) (and (<= (|?cpu g.s0.x.min| |out.s0.x.xo|) |t!20|) (< |t!20| (+ (|?cpu g.s0.x.min| |out.s0.x.xo|) (|?cpu g.s0.x.len| |out.s0.x.xo|)))))))))))) :named c19))

; 0 <= ?cpu g.s0.x.len   [length]
(assert (! (forall ((|out.s0.x.xo| Int)) (=> (and (<= 0 |out.s0.x.xo|) (let ((|t!22| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!22|) 1) |t!22|)))) (<= 0 (|?cpu g.s0.x.len| |out.s0.x.xo|)))) :named c20))

; forall g.s0.x in (?cpu g.s0.x.min, ?cpu g.s0.x.len): (g.s0.x) is an iteration of g.s0   [loops]
(assert (! (forall ((|out.s0.x.xo| Int)) (=> (and (<= 0 |out.s0.x.xo|) (let ((|t!23| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!23|) 1) |t!23|)))) (forall ((|g.s0.x| Int)) (=> (and (<= (|?cpu g.s0.x.min| |out.s0.x.xo|) |g.s0.x|) (< |g.s0.x| (+ (|?cpu g.s0.x.min| |out.s0.x.xo|) (|?cpu g.s0.x.len| |out.s0.x.xo|)))) true)))) :named c21))

; forall g.s0.x in (?cpu g.s0.x.min, ?cpu g.s0.x.len): g[g.s0.x] in ?mem g   [write]
(assert (! (forall ((|out.s0.x.xo| Int)) (=> (and (<= 0 |out.s0.x.xo|) (let ((|t!24| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!24|) 1) |t!24|)))) (forall ((|g.s0.x| Int)) (=> (and (<= (|?cpu g.s0.x.min| |out.s0.x.xo|) |g.s0.x|) (< |g.s0.x| (+ (|?cpu g.s0.x.min| |out.s0.x.xo|) (|?cpu g.s0.x.len| |out.s0.x.xo|)))) (and (<= (|?mem g.x.min| |out.s0.x.xo|) |g.s0.x|) (< |g.s0.x| (+ (|?mem g.x.min| |out.s0.x.xo|) (|?mem g.x.len| |out.s0.x.xo|)))))))) :named c22))

; ?cpu g.s0 in ?mem g   [memory]
(assert (! (forall ((|out.s0.x.xo| Int)) (=> (and (<= 0 |out.s0.x.xo|) (let ((|t!25| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!25|) 1) |t!25|)))) (or (<= (|?cpu g.s0.x.len| |out.s0.x.xo|) 0) (and (<= (|?mem g.x.min| |out.s0.x.xo|) (|?cpu g.s0.x.min| |out.s0.x.xo|)) (<= (+ (|?cpu g.s0.x.min| |out.s0.x.xo|) (|?cpu g.s0.x.len| |out.s0.x.xo|)) (+ (|?mem g.x.min| |out.s0.x.xo|) (|?mem g.x.len| |out.s0.x.xo|))))))) :named c23))

(check-sat)

; The bounds query of by_param, with its answers in place of the holes. Every check must say unsat:
; no inputs and no memory make a conjunct fail. The first assertions are what a run may take for granted:
; the ranges of its arguments and the start-up checks.
(set-logic QF_UFNIA)
(define-fun |max| ((a Int) (b Int)) Int (ite (> a b) a b))
(define-fun |min| ((a Int) (b Int)) Int (ite (< a b) a b))
(define-fun |div by| ((a Int) (b Int)) Int (ite (= b 0) 0 (div a b)))
(declare-fun |out.min.0| () Int)
(declare-fun |out.extent.0| () Int)
(declare-fun |param p| () Int)
(declare-fun |param n| () Int)
(define-fun |?cpu out.s0.x.min| () Int |out.min.0|)
(define-fun |?cpu out.s0.x.len| () Int (|max| |out.extent.0| |param p|))
(define-fun |?cpu f.s1.x.min| ((|out.s0.x.xo| Int)) Int (let ((|t!1| |param p|)) (+ (+ |out.min.0| (|max| (|min| (* |out.s0.x.xo| |t!1|) (- (|max| |out.extent.0| |t!1|) |t!1|)) 0)) (|min| 0 |t!1|))))
(define-fun |?cpu f.s1.x.len| ((|out.s0.x.xo| Int)) Int (let ((|t!2| |param p|)) (let ((|t!3| (|min| (* |out.s0.x.xo| |t!2|) (- (|max| |out.extent.0| |t!2|) |t!2|)))) (|max| (- (- (+ |t!3| (|max| |t!2| (* |t!2| 2))) (|max| |t!3| 0)) (|min| 0 |t!2|)) 0))))
(define-fun |?cpu f.s0.x.min| ((|out.s0.x.xo| Int)) Int (let ((|t!4| |param p|)) (+ (+ |out.min.0| (|max| (|min| (* |out.s0.x.xo| |t!4|) (- (|max| |out.extent.0| |t!4|) |t!4|)) 0)) (|min| 0 |t!4|))))
(define-fun |?cpu f.s0.x.len| ((|out.s0.x.xo| Int)) Int (|?cpu f.s1.x.len| |out.s0.x.xo|))
(define-fun |?mem f.x.min| ((|out.s0.x.xo| Int)) Int (let ((|t!5| |param p|)) (+ (+ |out.min.0| (|max| (|min| (* |out.s0.x.xo| |t!5|) (- (|max| |out.extent.0| |t!5|) |t!5|)) 0)) (|min| 0 |t!5|))))
(define-fun |?mem f.x.len| ((|out.s0.x.xo| Int)) Int (let ((|t!6| |param p|)) (let ((|t!7| (|min| (* |out.s0.x.xo| |t!6|) (- (|max| |out.extent.0| |t!6|) |t!6|)))) (|max| (- (- (+ |t!7| (|max| |t!6| (* |t!6| 2))) (|max| |t!7| 0)) (|min| 0 |t!6|)) 0))))
(define-fun |?cpu g.s0.x.min| ((|out.s0.x.xo| Int)) Int (let ((|t!8| |param p|)) (- (+ (+ (+ |out.min.0| (|max| (|min| (* |out.s0.x.xo| |t!8|) (- (|max| |out.extent.0| |t!8|) |t!8|)) 0)) (|min| 0 |t!8|)) |t!8|) 1)))
(define-fun |?cpu g.s0.x.len| ((|out.s0.x.xo| Int)) Int (let ((|t!9| |param p|)) (let ((|t!10| (|min| (* |out.s0.x.xo| |t!9|) (- (|max| |out.extent.0| |t!9|) |t!9|)))) (- (|max| (+ (|max| (- (- (+ |t!10| (|max| |t!9| (* |t!9| 2))) (|max| |t!10| 0)) (|min| 0 |t!9|)) 0) |param n|) 1) 1))))
(define-fun |?mem g.x.min| ((|out.s0.x.xo| Int)) Int (let ((|t!11| |param p|)) (- (+ (+ (+ |out.min.0| (|max| (|min| (* |out.s0.x.xo| |t!11|) (- (|max| |out.extent.0| |t!11|) |t!11|)) 0)) (|min| 0 |t!11|)) |t!11|) 1)))
(define-fun |?mem g.x.len| ((|out.s0.x.xo| Int)) Int (let ((|t!12| |param p|)) (let ((|t!13| (|min| (* |out.s0.x.xo| |t!12|) (- (|max| |out.extent.0| |t!12|) |t!12|)))) (- (|max| (+ (|max| (- (- (+ |t!13| (|max| |t!12| (* |t!12| 2))) (|max| |t!13| 0)) (|min| 0 |t!12|)) 0) |param n|) 1) 1))))
(define-fun |?mem out.x.min| () Int |out.min.0|)
(define-fun |?mem out.x.len| () Int (|max| |out.extent.0| |param p|))
(assert (and (<= (- 2147483648) |out.min.0|) (<= |out.min.0| 2147483647)))
(assert (and (<= 0 |out.extent.0|) (<= |out.extent.0| 2147483647)))
(assert (and (<= (- 2147483648) |param p|) (<= |param p| 2147483647)))
(assert (and (<= (- 2147483648) |param n|) (<= |param n| 2147483647)))
(assert (< 0 |out.extent.0|))
(assert (< 0 |param p|))
(assert (let ((|t!39| |param p|)) (let ((|t!40| (|max| |out.extent.0| |t!39|))) (or (not (and (< 0 (|div by| (- (+ |t!40| |t!39|) 1) |t!39|)) (< 0 |t!39|))) (<= (- (+ |out.min.0| |t!40|) 1) (- (+ |out.min.0| |out.extent.0|) 1))))))
(assert (and (<= (- 1073741824) |out.min.0|) (<= (- (+ |out.min.0| |out.extent.0|) 1) 1073741824)))
(assert (let ((|t!41| |param p|)) (and (<= (- 2147483648) (+ |out.min.0| |t!41|)) (<= (- (+ (+ |out.min.0| (|max| |out.extent.0| |t!41|)) |t!41|) 1) 2147483647))))
(assert (let ((|t!42| |param p|)) (let ((|t!43| (|max| |out.extent.0| |t!42|))) (and (<= (- 2147483648) (+ |out.min.0| (|min| 0 |t!42|))) (<= (- (+ (+ |out.min.0| (|min| (|max| 0 (- (* (|div by| (- (+ |t!43| |t!42|) 1) |t!42|) |t!42|) |t!42|)) (- |t!43| |t!42|))) (|max| |t!42| (* |t!42| 2))) 1) 2147483647)))))
(assert (<= (- 2147483648) (- |param p| 1)))
(assert (let ((|t!44| |param p|)) (and (<= (- 2147483648) (- |t!44| 1)) (<= (- (+ |t!44| |param n|) 2) 2147483647))))
(assert (let ((|t!45| |param p|)) (let ((|t!46| (|max| |out.extent.0| |t!45|))) (and (<= (- 2147483648) (- (+ (+ |out.min.0| (|min| 0 |t!45|)) |t!45|) 1)) (<= (- (+ (+ (+ (+ |out.min.0| |t!45|) |param n|) (|min| (|max| 0 (- (* (|div by| (- (+ |t!46| |t!45|) 1) |t!45|) |t!45|) |t!45|)) (- |t!46| |t!45|))) (|max| |t!45| (* |t!45| 2))) 3) 2147483647)))))
(assert (let ((|t!47| |param p|)) (let ((|t!48| (|min| 0 |t!47|))) (let ((|t!49| (+ (+ |out.min.0| |t!48|) |t!47|))) (let ((|t!50| (|max| |out.extent.0| |t!47|))) (let ((|t!51| |param n|)) (let ((|t!52| (|max| |t!47| (* |t!47| 2)))) (and (<= (- 2147483648) (- |t!49| 1)) (<= (- (+ |t!49| (|min| (+ (|max| 0 (- (* (|div by| (- (+ |t!50| |t!47|) 1) |t!47|) |t!47|) |t!47|)) (|max| (- (+ |t!51| |t!52|) |t!48|) 1)) (- (+ |t!50| (|max| (- (+ |t!52| |t!51|) |t!48|) 1)) |t!47|))) 3) 2147483647)))))))))

; window of out in ?cpu out.s0   [window]
(push 1)
(assert (not (or (<= |out.extent.0| 0) (and (<= |?cpu out.s0.x.min| |out.min.0|) (<= (+ |out.min.0| |out.extent.0|) (+ |?cpu out.s0.x.min| |?cpu out.s0.x.len|))))))
(check-sat)
(pop 1)

; 0 < int64(p)   [assert: out.split(x, xo, xi, p, TailStrategy.ShiftInwards)]
(push 1)
(assert (not (< 0 |param p|)))
(check-sat)
(pop 1)

; int64(p) <= ?cpu out.s0.x.len   [assert: out.split(x, xo, xi, p, TailStrategy.ShiftInwards)]
(push 1)
(assert (not (<= |param p| |?cpu out.s0.x.len|)))
(check-sat)
(pop 1)

; 0 <= (?cpu out.s0.x.len + int64(p) - 1)/int64(p)   [length]
(push 1)
(assert (not (let ((|t!14| |param p|)) (<= 0 (|div by| (- (+ |?cpu out.s0.x.len| |t!14|) 1) |t!14|)))))
(check-sat)
(pop 1)

; forall out.s0.x.xo in (0, (?cpu out.s0.x.len + int64(p) - 1)/int64(p)): 0 <= int64(p)   [length]
(push 1)
(declare-const |out.s0.x.xo| Int)
(assert (<= 0 |out.s0.x.xo|))
(assert (let ((|t!15| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!15|) 1) |t!15|))))
(assert (not (<= 0 |param p|)))
(check-sat)
(pop 1)

; forall out.s0.x in (?cpu out.s0.x.min, ?cpu out.s0.x.len): let out.s0.x.xo = (out.s0.x - ?cpu out.s0.x.min)/int64(p): let out.s0.x.xi = out.s0.x - ?cpu out.s0.x.min - min(out.s0.x.xo*int64(p), ?cpu out.s0.x.len - int64(p)): (out.s0.x.xo, out.s0.x.xi) is an iteration of out.s0   [loops]
(push 1)
(declare-const |out.s0.x| Int)
(assert (<= |?cpu out.s0.x.min| |out.s0.x|))
(assert (< |out.s0.x| (+ |?cpu out.s0.x.min| |?cpu out.s0.x.len|)))
(define-fun |out.s0.x.xo| () Int (|div by| (- |out.s0.x| |?cpu out.s0.x.min|) |param p|))
(define-fun |out.s0.x.xi| () Int (let ((|t!16| |param p|)) (- (- |out.s0.x| |?cpu out.s0.x.min|) (|min| (* |out.s0.x.xo| |t!16|) (- |?cpu out.s0.x.len| |t!16|)))))
(assert (not (let ((|t!17| |param p|)) (and (and (and (<= 0 |out.s0.x.xo|) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!17|) 1) |t!17|))) (and (<= 0 |out.s0.x.xi|) (< |out.s0.x.xi| |t!17|))) (= |out.s0.x| (+ (+ |?cpu out.s0.x.min| (|min| (* |out.s0.x.xo| |t!17|) (- |?cpu out.s0.x.len| |t!17|))) |out.s0.x.xi|))))))
(check-sat)
(pop 1)

; forall out.s0.x.xo in (0, (?cpu out.s0.x.len + int64(p) - 1)/int64(p)): forall out.s0.x.xi in (0, int64(p)): let out.s0.x = ?cpu out.s0.x.min + min(out.s0.x.xo*int64(p), ?cpu out.s0.x.len - int64(p)) + out.s0.x.xi: out[out.s0.x] in ?mem out   [write]
(push 1)
(declare-const |out.s0.x.xo| Int)
(assert (<= 0 |out.s0.x.xo|))
(assert (let ((|t!18| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!18|) 1) |t!18|))))
(declare-const |out.s0.x.xi| Int)
(assert (<= 0 |out.s0.x.xi|))
(assert (< |out.s0.x.xi| |param p|))
(define-fun |out.s0.x| () Int (let ((|t!19| |param p|)) (+ (+ |?cpu out.s0.x.min| (|min| (* |out.s0.x.xo| |t!19|) (- |?cpu out.s0.x.len| |t!19|))) |out.s0.x.xi|)))
(assert (not (and (<= |?mem out.x.min| |out.s0.x|) (< |out.s0.x| (+ |?mem out.x.min| |?mem out.x.len|)))))
(check-sat)
(pop 1)

; ?cpu out.s0 in ?mem out   [memory]
(push 1)
(assert (not (or (<= |?cpu out.s0.x.len| 0) (and (<= |?mem out.x.min| |?cpu out.s0.x.min|) (<= (+ |?cpu out.s0.x.min| |?cpu out.s0.x.len|) (+ |?mem out.x.min| |?mem out.x.len|))))))
(check-sat)
(pop 1)

; forall out.s0.x.xi in (0, int64(p)): let out.s0.x = ?cpu out.s0.x.min + min(out.s0.x.xo*int64(p), ?cpu out.s0.x.len - int64(p)) + out.s0.x.xi: f[out.s0.x | out.s0.x + int64(p)] in ?cpu f.s1   [value]
(push 1)
(declare-const |out.s0.x.xo| Int)
(assert (<= 0 |out.s0.x.xo|))
(assert (let ((|t!20| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!20|) 1) |t!20|))))
(declare-const |out.s0.x.xi| Int)
(assert (<= 0 |out.s0.x.xi|))
(assert (< |out.s0.x.xi| |param p|))
(define-fun |out.s0.x| () Int (let ((|t!21| |param p|)) (+ (+ |?cpu out.s0.x.min| (|min| (* |out.s0.x.xo| |t!21|) (- |?cpu out.s0.x.len| |t!21|))) |out.s0.x.xi|)))
(assert (not (let ((|t!22| (+ (|?cpu f.s1.x.min| |out.s0.x.xo|) (|?cpu f.s1.x.len| |out.s0.x.xo|)))) (let ((|t!23| (+ |out.s0.x| |param p|))) (and (and (<= (|?cpu f.s1.x.min| |out.s0.x.xo|) |out.s0.x|) (< |out.s0.x| |t!22|)) (and (<= (|?cpu f.s1.x.min| |out.s0.x.xo|) |t!23|) (< |t!23| |t!22|)))))))
(check-sat)
(pop 1)

; ?cpu f.s1 in ?cpu f.s0   [stages]
(push 1)
(declare-const |out.s0.x.xo| Int)
(assert (<= 0 |out.s0.x.xo|))
(assert (let ((|t!24| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!24|) 1) |t!24|))))
(assert (not (or (<= (|?cpu f.s1.x.len| |out.s0.x.xo|) 0) (and (<= (|?cpu f.s0.x.min| |out.s0.x.xo|) (|?cpu f.s1.x.min| |out.s0.x.xo|)) (<= (+ (|?cpu f.s1.x.min| |out.s0.x.xo|) (|?cpu f.s1.x.len| |out.s0.x.xo|)) (+ (|?cpu f.s0.x.min| |out.s0.x.xo|) (|?cpu f.s0.x.len| |out.s0.x.xo|)))))))
(check-sat)
(pop 1)

; 0 <= ?cpu f.s0.x.len   [length]
(push 1)
(declare-const |out.s0.x.xo| Int)
(assert (<= 0 |out.s0.x.xo|))
(assert (let ((|t!25| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!25|) 1) |t!25|))))
(assert (not (<= 0 (|?cpu f.s0.x.len| |out.s0.x.xo|))))
(check-sat)
(pop 1)

; 0 <= int64(n) => 0 <= ?cpu f.s1.x.len   [length]
(push 1)
(declare-const |out.s0.x.xo| Int)
(assert (<= 0 |out.s0.x.xo|))
(assert (let ((|t!26| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!26|) 1) |t!26|))))
(assert (<= 0 |param n|))
(assert (not (<= 0 (|?cpu f.s1.x.len| |out.s0.x.xo|))))
(check-sat)
(pop 1)

; 0 <= int64(n) => forall f.s1.x in (?cpu f.s1.x.min, ?cpu f.s1.x.len): 0 <= int64(n)   [length]
(push 1)
(declare-const |out.s0.x.xo| Int)
(assert (<= 0 |out.s0.x.xo|))
(assert (let ((|t!27| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!27|) 1) |t!27|))))
(assert (<= 0 |param n|))
(declare-const |f.s1.x| Int)
(assert (<= (|?cpu f.s1.x.min| |out.s0.x.xo|) |f.s1.x|))
(assert (< |f.s1.x| (+ (|?cpu f.s1.x.min| |out.s0.x.xo|) (|?cpu f.s1.x.len| |out.s0.x.xo|))))
(assert (not (<= 0 |param n|)))
(check-sat)
(pop 1)

; forall f.s0.x in (?cpu f.s0.x.min, ?cpu f.s0.x.len): (f.s0.x) is an iteration of f.s0   [loops]
(push 1)
(declare-const |out.s0.x.xo| Int)
(assert (<= 0 |out.s0.x.xo|))
(assert (let ((|t!28| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!28|) 1) |t!28|))))
(declare-const |f.s0.x| Int)
(assert (<= (|?cpu f.s0.x.min| |out.s0.x.xo|) |f.s0.x|))
(assert (< |f.s0.x| (+ (|?cpu f.s0.x.min| |out.s0.x.xo|) (|?cpu f.s0.x.len| |out.s0.x.xo|))))
(assert (not true))
(check-sat)
(pop 1)

; forall f.s1.x in (?cpu f.s1.x.min, ?cpu f.s1.x.len): forall f.s1.r.x in (int64(p) - 1, int64(n)): (f.s1.x, f.s1.r.x) is an iteration of f.s1   [loops]
(push 1)
(declare-const |out.s0.x.xo| Int)
(assert (<= 0 |out.s0.x.xo|))
(assert (let ((|t!29| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!29|) 1) |t!29|))))
(declare-const |f.s1.x| Int)
(assert (<= (|?cpu f.s1.x.min| |out.s0.x.xo|) |f.s1.x|))
(assert (< |f.s1.x| (+ (|?cpu f.s1.x.min| |out.s0.x.xo|) (|?cpu f.s1.x.len| |out.s0.x.xo|))))
(declare-const |f.s1.r.x| Int)
(assert (<= (- |param p| 1) |f.s1.r.x|))
(assert (< |f.s1.r.x| (- (+ |param p| |param n|) 1)))
(assert (not (<= 0 |param n|)))
(check-sat)
(pop 1)

; forall f.s0.x in (?cpu f.s0.x.min, ?cpu f.s0.x.len): f[f.s0.x] in ?mem f   [write]
(push 1)
(declare-const |out.s0.x.xo| Int)
(assert (<= 0 |out.s0.x.xo|))
(assert (let ((|t!30| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!30|) 1) |t!30|))))
(declare-const |f.s0.x| Int)
(assert (<= (|?cpu f.s0.x.min| |out.s0.x.xo|) |f.s0.x|))
(assert (< |f.s0.x| (+ (|?cpu f.s0.x.min| |out.s0.x.xo|) (|?cpu f.s0.x.len| |out.s0.x.xo|))))
(assert (not (and (<= (|?mem f.x.min| |out.s0.x.xo|) |f.s0.x|) (< |f.s0.x| (+ (|?mem f.x.min| |out.s0.x.xo|) (|?mem f.x.len| |out.s0.x.xo|))))))
(check-sat)
(pop 1)

; 0 <= int64(n) => forall f.s1.x in (?cpu f.s1.x.min, ?cpu f.s1.x.len): forall f.s1.r.x in (int64(p) - 1, int64(n)): f[f.s1.x] in ?mem f   [write]
(push 1)
(declare-const |out.s0.x.xo| Int)
(assert (<= 0 |out.s0.x.xo|))
(assert (let ((|t!31| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!31|) 1) |t!31|))))
(assert (<= 0 |param n|))
(declare-const |f.s1.x| Int)
(assert (<= (|?cpu f.s1.x.min| |out.s0.x.xo|) |f.s1.x|))
(assert (< |f.s1.x| (+ (|?cpu f.s1.x.min| |out.s0.x.xo|) (|?cpu f.s1.x.len| |out.s0.x.xo|))))
(declare-const |f.s1.r.x| Int)
(assert (<= (- |param p| 1) |f.s1.r.x|))
(assert (< |f.s1.r.x| (- (+ |param p| |param n|) 1)))
(assert (not (and (<= (|?mem f.x.min| |out.s0.x.xo|) |f.s1.x|) (< |f.s1.x| (+ (|?mem f.x.min| |out.s0.x.xo|) (|?mem f.x.len| |out.s0.x.xo|))))))
(check-sat)
(pop 1)

; ?cpu f.s0 in ?mem f   [memory]
(push 1)
(declare-const |out.s0.x.xo| Int)
(assert (<= 0 |out.s0.x.xo|))
(assert (let ((|t!32| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!32|) 1) |t!32|))))
(assert (not (or (<= (|?cpu f.s0.x.len| |out.s0.x.xo|) 0) (and (<= (|?mem f.x.min| |out.s0.x.xo|) (|?cpu f.s0.x.min| |out.s0.x.xo|)) (<= (+ (|?cpu f.s0.x.min| |out.s0.x.xo|) (|?cpu f.s0.x.len| |out.s0.x.xo|)) (+ (|?mem f.x.min| |out.s0.x.xo|) (|?mem f.x.len| |out.s0.x.xo|)))))))
(check-sat)
(pop 1)

; 0 <= int64(n) => forall f.s1.x in (?cpu f.s1.x.min, ?cpu f.s1.x.len): forall f.s1.r.x in (int64(p) - 1, int64(n)): g[f.s1.x + f.s1.r.x] in ?cpu g.s0   [value]
(push 1)
(declare-const |out.s0.x.xo| Int)
(assert (<= 0 |out.s0.x.xo|))
(assert (let ((|t!33| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!33|) 1) |t!33|))))
(assert (<= 0 |param n|))
(declare-const |f.s1.x| Int)
(assert (<= (|?cpu f.s1.x.min| |out.s0.x.xo|) |f.s1.x|))
(assert (< |f.s1.x| (+ (|?cpu f.s1.x.min| |out.s0.x.xo|) (|?cpu f.s1.x.len| |out.s0.x.xo|))))
(declare-const |f.s1.r.x| Int)
(assert (<= (- |param p| 1) |f.s1.r.x|))
(assert (< |f.s1.r.x| (- (+ |param p| |param n|) 1)))
(assert (not (let ((|t!34| (+ |f.s1.x| |f.s1.r.x|))) (and (<= (|?cpu g.s0.x.min| |out.s0.x.xo|) |t!34|) (< |t!34| (+ (|?cpu g.s0.x.min| |out.s0.x.xo|) (|?cpu g.s0.x.len| |out.s0.x.xo|)))))))
(check-sat)
(pop 1)

; 0 <= ?cpu g.s0.x.len   [length]
(push 1)
(declare-const |out.s0.x.xo| Int)
(assert (<= 0 |out.s0.x.xo|))
(assert (let ((|t!35| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!35|) 1) |t!35|))))
(assert (not (<= 0 (|?cpu g.s0.x.len| |out.s0.x.xo|))))
(check-sat)
(pop 1)

; forall g.s0.x in (?cpu g.s0.x.min, ?cpu g.s0.x.len): (g.s0.x) is an iteration of g.s0   [loops]
(push 1)
(declare-const |out.s0.x.xo| Int)
(assert (<= 0 |out.s0.x.xo|))
(assert (let ((|t!36| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!36|) 1) |t!36|))))
(declare-const |g.s0.x| Int)
(assert (<= (|?cpu g.s0.x.min| |out.s0.x.xo|) |g.s0.x|))
(assert (< |g.s0.x| (+ (|?cpu g.s0.x.min| |out.s0.x.xo|) (|?cpu g.s0.x.len| |out.s0.x.xo|))))
(assert (not true))
(check-sat)
(pop 1)

; forall g.s0.x in (?cpu g.s0.x.min, ?cpu g.s0.x.len): g[g.s0.x] in ?mem g   [write]
(push 1)
(declare-const |out.s0.x.xo| Int)
(assert (<= 0 |out.s0.x.xo|))
(assert (let ((|t!37| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!37|) 1) |t!37|))))
(declare-const |g.s0.x| Int)
(assert (<= (|?cpu g.s0.x.min| |out.s0.x.xo|) |g.s0.x|))
(assert (< |g.s0.x| (+ (|?cpu g.s0.x.min| |out.s0.x.xo|) (|?cpu g.s0.x.len| |out.s0.x.xo|))))
(assert (not (and (<= (|?mem g.x.min| |out.s0.x.xo|) |g.s0.x|) (< |g.s0.x| (+ (|?mem g.x.min| |out.s0.x.xo|) (|?mem g.x.len| |out.s0.x.xo|))))))
(check-sat)
(pop 1)

; ?cpu g.s0 in ?mem g   [memory]
(push 1)
(declare-const |out.s0.x.xo| Int)
(assert (<= 0 |out.s0.x.xo|))
(assert (let ((|t!38| |param p|)) (< |out.s0.x.xo| (|div by| (- (+ |?cpu out.s0.x.len| |t!38|) 1) |t!38|))))
(assert (not (or (<= (|?cpu g.s0.x.len| |out.s0.x.xo|) 0) (and (<= (|?mem g.x.min| |out.s0.x.xo|) (|?cpu g.s0.x.min| |out.s0.x.xo|)) (<= (+ (|?cpu g.s0.x.min| |out.s0.x.xo|) (|?cpu g.s0.x.len| |out.s0.x.xo|)) (+ (|?mem g.x.min| |out.s0.x.xo|) (|?mem g.x.len| |out.s0.x.xo|)))))))
(check-sat)
(pop 1)

; ?mem out in the buffer out   [memory]
(push 1)
(assert (not (or (<= |?mem out.x.len| 0) (and (<= |out.min.0| |?mem out.x.min|) (<= (+ |?mem out.x.min| |?mem out.x.len|) (+ |out.min.0| |out.extent.0|))))))
(check-sat)
(pop 1)
