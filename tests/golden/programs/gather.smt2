; The bounds query of gather, with its holes open. sat: there is an answer for some inputs. The
; parameters and the windows are free: assert what they are to ask for their answer.
(set-logic UFLIA)
(define-fun |min| ((a Int) (b Int)) Int (ite (< a b) a b))
(define-fun |max| ((a Int) (b Int)) Int (ite (> a b) a b))
(declare-fun |g.extent.0| () Int)
(declare-fun |g.min.0| () Int)
(declare-fun |f[]| (Int) Int)
(declare-fun |?cpu g.s0.x.min| () Int)
(declare-fun |?cpu g.s0.x.len| () Int)
(declare-fun |?mem g.x.min| () Int)
(declare-fun |?mem g.x.len| () Int)
(declare-fun |?cpu f.s0.x.min| () Int)
(declare-fun |?cpu f.s0.x.len| () Int)
(declare-fun |?mem f.x.min| () Int)
(declare-fun |?mem f.x.len| () Int)
(declare-fun |?mem keys.0.min| () Int)
(declare-fun |?mem keys.0.len| () Int)
(declare-fun |?mem im.0.min| () Int)
(declare-fun |?mem im.0.len| () Int)
(assert (and (<= 0 |g.extent.0|) (<= |g.extent.0| 2147483647)))
(assert (and (<= (- 2147483648) |g.min.0|) (<= |g.min.0| 2147483647)))

; window of g in ?cpu g.s0   [window]
(assert (! (or (<= |g.extent.0| 0) (and (<= |?cpu g.s0.x.min| |g.min.0|) (<= (+ |g.min.0| |g.extent.0|) (+ |?cpu g.s0.x.min| |?cpu g.s0.x.len|)))) :named c1))

; 0 <= (?cpu g.s0.x.len + 3)/4   [length]
(assert (! (<= 0 (div (+ |?cpu g.s0.x.len| 3) 4)) :named c2))

; forall g.s0.x in (?cpu g.s0.x.min, ?cpu g.s0.x.len): let g.s0.x.xo = (g.s0.x - ?cpu g.s0.x.min)/4: let g.s0.x.xi = g.s0.x - ?cpu g.s0.x.min - g.s0.x.xo*4: (g.s0.x.xo, g.s0.x.xi) is an iteration of g.s0   [loops]
(assert (! (forall ((|g.s0.x| Int)) (=> (and (<= |?cpu g.s0.x.min| |g.s0.x|) (< |g.s0.x| (+ |?cpu g.s0.x.min| |?cpu g.s0.x.len|))) (let ((|g.s0.x.xo| (div (- |g.s0.x| |?cpu g.s0.x.min|) 4))) (let ((|g.s0.x.xi| (- (- |g.s0.x| |?cpu g.s0.x.min|) (* |g.s0.x.xo| 4)))) (and (and (and (and (<= 0 |g.s0.x.xo|) (< |g.s0.x.xo| (div (+ |?cpu g.s0.x.len| 3) 4))) (and (<= 0 |g.s0.x.xi|) (< |g.s0.x.xi| 4))) (= |g.s0.x| (+ (+ |?cpu g.s0.x.min| (* |g.s0.x.xo| 4)) |g.s0.x.xi|))) (< |g.s0.x| (+ |?cpu g.s0.x.min| |?cpu g.s0.x.len|))))))) :named c3))

; forall g.s0.x.xo in (0, (?cpu g.s0.x.len + 3)/4): forall g.s0.x.xi in (0, 4): let g.s0.x = ?cpu g.s0.x.min + g.s0.x.xo*4 + g.s0.x.xi: g.s0.x < ?cpu g.s0.x.min + ?cpu g.s0.x.len => g[g.s0.x] in ?mem g   [write]
(assert (! (forall ((|g.s0.x.xo| Int)) (=> (and (<= 0 |g.s0.x.xo|) (< |g.s0.x.xo| (div (+ |?cpu g.s0.x.len| 3) 4))) (forall ((|g.s0.x.xi| Int)) (=> (and (<= 0 |g.s0.x.xi|) (< |g.s0.x.xi| 4)) (let ((|g.s0.x| (+ (+ |?cpu g.s0.x.min| (* |g.s0.x.xo| 4)) |g.s0.x.xi|))) (=> (< |g.s0.x| (+ |?cpu g.s0.x.min| |?cpu g.s0.x.len|)) (and (<= |?mem g.x.min| |g.s0.x|) (< |g.s0.x| (+ |?mem g.x.min| |?mem g.x.len|))))))))) :named c4))

; ?cpu g.s0 in ?mem g   [memory]
(assert (! (or (<= |?cpu g.s0.x.len| 0) (and (<= |?mem g.x.min| |?cpu g.s0.x.min|) (<= (+ |?cpu g.s0.x.min| |?cpu g.s0.x.len|) (+ |?mem g.x.min| |?mem g.x.len|)))) :named c5))

; forall g.s0.x.xo in (0, (?cpu g.s0.x.len + 3)/4): forall g.s0.x.xi in (0, 4): let g.s0.x = ?cpu g.s0.x.min + g.s0.x.xo*4 + g.s0.x.xi: g.s0.x < ?cpu g.s0.x.min + ?cpu g.s0.x.len => f[g.s0.x - 1 | g.s0.x] in ?cpu f.s0   [index]
(assert (! (forall ((|g.s0.x.xo| Int)) (=> (and (<= 0 |g.s0.x.xo|) (< |g.s0.x.xo| (div (+ |?cpu g.s0.x.len| 3) 4))) (forall ((|g.s0.x.xi| Int)) (=> (and (<= 0 |g.s0.x.xi|) (< |g.s0.x.xi| 4)) (let ((|g.s0.x| (+ (+ |?cpu g.s0.x.min| (* |g.s0.x.xo| 4)) |g.s0.x.xi|))) (=> (< |g.s0.x| (+ |?cpu g.s0.x.min| |?cpu g.s0.x.len|)) (let ((|t!1| (- |g.s0.x| 1))) (let ((|t!2| (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|))) (and (and (<= |?cpu f.s0.x.min| |t!1|) (< |t!1| |t!2|)) (and (<= |?cpu f.s0.x.min| |g.s0.x|) (< |g.s0.x| |t!2|))))))))))) :named c6))

; forall g.s0.x.xo in (0, (?cpu g.s0.x.len + 3)/4): forall g.s0.x.xi in (0, 4): let g.s0.x = ?cpu g.s0.x.min + g.s0.x.xo*4 + g.s0.x.xi: g.s0.x < ?cpu g.s0.x.min + ?cpu g.s0.x.len => f[int64(uint8(f[g.s0.x - 1]))%4] in ?cpu f.s0   [value]
(assert (! (forall ((|g.s0.x.xo| Int)) (=> (and (<= 0 |g.s0.x.xo|) (< |g.s0.x.xo| (div (+ |?cpu g.s0.x.len| 3) 4))) (forall ((|g.s0.x.xi| Int)) (=> (and (<= 0 |g.s0.x.xi|) (< |g.s0.x.xi| 4)) (let ((|g.s0.x| (+ (+ |?cpu g.s0.x.min| (* |g.s0.x.xo| 4)) |g.s0.x.xi|))) (=> (< |g.s0.x| (+ |?cpu g.s0.x.min| |?cpu g.s0.x.len|)) (=> (let ((|t!3| (|f[]| (- |g.s0.x| 1)))) (and (<= 0 |t!3|) (<= |t!3| 15))) (let ((|t!4| (mod (|f[]| (- |g.s0.x| 1)) 4))) (and (<= |?cpu f.s0.x.min| |t!4|) (< |t!4| (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|))))))))))) :named c7))

; 0 <= ?cpu f.s0.x.len   [length]
(assert (! (<= 0 |?cpu f.s0.x.len|) :named c8))

; forall f.s0.x in (?cpu f.s0.x.min, ?cpu f.s0.x.len): (f.s0.x) is an iteration of f.s0   [loops]
(assert (! (forall ((|f.s0.x| Int)) (=> (and (<= |?cpu f.s0.x.min| |f.s0.x|) (< |f.s0.x| (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|))) true)) :named c9))

; forall f.s0.x in (?cpu f.s0.x.min, ?cpu f.s0.x.len): f[f.s0.x] in ?mem f   [write]
(assert (! (forall ((|f.s0.x| Int)) (=> (and (<= |?cpu f.s0.x.min| |f.s0.x|) (< |f.s0.x| (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|))) (and (<= |?mem f.x.min| |f.s0.x|) (< |f.s0.x| (+ |?mem f.x.min| |?mem f.x.len|))))) :named c10))

; ?cpu f.s0 in ?mem f   [memory]
(assert (! (or (<= |?cpu f.s0.x.len| 0) (and (<= |?mem f.x.min| |?cpu f.s0.x.min|) (<= (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|) (+ |?mem f.x.min| |?mem f.x.len|)))) :named c11))

; forall f.s0.x in (?cpu f.s0.x.min, ?cpu f.s0.x.len): keys[f.s0.x] in ?input keys   [value]
(assert (! (forall ((|f.s0.x| Int)) (=> (and (<= |?cpu f.s0.x.min| |f.s0.x|) (< |f.s0.x| (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|))) (and (<= |?mem keys.0.min| |f.s0.x|) (< |f.s0.x| (+ |?mem keys.0.min| |?mem keys.0.len|))))) :named c12))

; forall g.s0.x.xo in (0, (?cpu g.s0.x.len + 3)/4): forall g.s0.x.xi in (0, 4): let g.s0.x = ?cpu g.s0.x.min + g.s0.x.xo*4 + g.s0.x.xi: g.s0.x < ?cpu g.s0.x.min + ?cpu g.s0.x.len => im[int64(f[g.s0.x]) | max(min(7*g.s0.x - 3, 9), 2)] in ?input im   [value]
(assert (! (forall ((|g.s0.x.xo| Int)) (=> (and (<= 0 |g.s0.x.xo|) (< |g.s0.x.xo| (div (+ |?cpu g.s0.x.len| 3) 4))) (forall ((|g.s0.x.xi| Int)) (=> (and (<= 0 |g.s0.x.xi|) (< |g.s0.x.xi| 4)) (let ((|g.s0.x| (+ (+ |?cpu g.s0.x.min| (* |g.s0.x.xo| 4)) |g.s0.x.xi|))) (=> (< |g.s0.x| (+ |?cpu g.s0.x.min| |?cpu g.s0.x.len|)) (=> (let ((|t!5| (|f[]| |g.s0.x|))) (and (<= 0 |t!5|) (<= |t!5| 15))) (let ((|t!6| (|f[]| |g.s0.x|))) (let ((|t!7| (+ |?mem im.0.min| |?mem im.0.len|))) (let ((|t!8| (|max| (|min| (- (* 7 |g.s0.x|) 3) 9) 2))) (and (and (<= |?mem im.0.min| |t!6|) (< |t!6| |t!7|)) (and (<= |?mem im.0.min| |t!8|) (< |t!8| |t!7|))))))))))))) :named c13))

(check-sat)

; The bounds query of gather, with its answers in place of the holes. Every check must say unsat:
; no inputs and no memory make a conjunct fail. The first assertions are what a run may take for granted:
; the ranges of its arguments and the start-up checks.
(set-logic QF_UFLIA)
(define-fun |min| ((a Int) (b Int)) Int (ite (< a b) a b))
(define-fun |max| ((a Int) (b Int)) Int (ite (> a b) a b))
(define-fun |wrap int16| ((a Int)) Int (ite (and (<= (- 32768) a) (<= a 32767)) a (+ (mod (- a (- 32768)) 65536) (- 32768))))
(declare-fun |g.min.0| () Int)
(declare-fun |g.extent.0| () Int)
(declare-fun |f[]| (Int) Int)
(declare-fun |keys.min.0| () Int)
(declare-fun |keys.extent.0| () Int)
(declare-fun |im.min.0| () Int)
(declare-fun |im.extent.0| () Int)
(declare-fun |keys[]| (Int) Int)
(declare-fun |im[]| (Int) Int)
(define-fun |?cpu g.s0.x.min| () Int |g.min.0|)
(define-fun |?cpu g.s0.x.len| () Int |g.extent.0|)
(define-fun |?cpu f.s0.x.min| () Int (- (|min| |g.min.0| 1) 1))
(define-fun |?cpu f.s0.x.len| () Int (+ (- (|max| (+ |g.min.0| |g.extent.0|) 4) (|min| |g.min.0| 1)) 1))
(define-fun |?mem f.x.min| () Int (- (|min| |g.min.0| 1) 1))
(define-fun |?mem f.x.len| () Int (+ (- (|max| (+ |g.min.0| |g.extent.0|) 4) (|min| |g.min.0| 1)) 1))
(define-fun |?mem g.x.min| () Int |g.min.0|)
(define-fun |?mem g.x.len| () Int |g.extent.0|)
(define-fun |?mem keys.0.min| () Int (- (|min| |g.min.0| 1) 1))
(define-fun |?mem keys.0.len| () Int (+ (- (|max| (+ |g.min.0| |g.extent.0|) 4) (|min| |g.min.0| 1)) 1))
(define-fun |?mem im.0.min| () Int 0)
(define-fun |?mem im.0.len| () Int 16)
(assert (and (<= (- 2147483648) |g.min.0|) (<= |g.min.0| 2147483647)))
(assert (and (<= 0 |g.extent.0|) (<= |g.extent.0| 2147483647)))
(assert (and (<= (- 2147483648) |keys.min.0|) (<= |keys.min.0| 2147483647)))
(assert (and (<= 0 |keys.extent.0|) (<= |keys.extent.0| 2147483647)))
(assert (and (<= (- 2147483648) |im.min.0|) (<= |im.min.0| 2147483647)))
(assert (and (<= 0 |im.extent.0|) (<= |im.extent.0| 2147483647)))
(assert (< 0 |g.extent.0|))
(assert (and (<= (- 1073741824) |g.min.0|) (<= (- (+ |g.min.0| |g.extent.0|) 1) 1073741824)))
(assert (let ((|t!17| (* |g.min.0| 7))) (and (<= (- 2147483648) |t!17|) (<= (- (+ |t!17| (* |g.extent.0| 7)) 7) 2147483647))))
(assert (let ((|t!18| (* |g.min.0| 7))) (and (<= (- 2147483648) (- |t!18| 3)) (<= (- (+ |t!18| (* |g.extent.0| 7)) 10) 2147483647))))
(assert (and (<= |keys.min.0| (- (|min| |g.min.0| 1) 1)) (<= (- (|max| (+ |g.min.0| |g.extent.0|) 4) 1) (- (+ |keys.min.0| |keys.extent.0|) 1))))
(assert (and (<= |im.min.0| 0) (<= 15 (- (+ |im.min.0| |im.extent.0|) 1))))

; window of g in ?cpu g.s0   [window]
(push 1)
(assert (not (or (<= |g.extent.0| 0) (and (<= |?cpu g.s0.x.min| |g.min.0|) (<= (+ |g.min.0| |g.extent.0|) (+ |?cpu g.s0.x.min| |?cpu g.s0.x.len|))))))
(check-sat)
(pop 1)

; 0 <= (?cpu g.s0.x.len + 3)/4   [length]
(push 1)
(assert (not (<= 0 (div (+ |?cpu g.s0.x.len| 3) 4))))
(check-sat)
(pop 1)

; forall g.s0.x in (?cpu g.s0.x.min, ?cpu g.s0.x.len): let g.s0.x.xo = (g.s0.x - ?cpu g.s0.x.min)/4: let g.s0.x.xi = g.s0.x - ?cpu g.s0.x.min - g.s0.x.xo*4: (g.s0.x.xo, g.s0.x.xi) is an iteration of g.s0   [loops]
(push 1)
(declare-const |g.s0.x| Int)
(assert (<= |?cpu g.s0.x.min| |g.s0.x|))
(assert (< |g.s0.x| (+ |?cpu g.s0.x.min| |?cpu g.s0.x.len|)))
(define-fun |g.s0.x.xo| () Int (div (- |g.s0.x| |?cpu g.s0.x.min|) 4))
(define-fun |g.s0.x.xi| () Int (- (- |g.s0.x| |?cpu g.s0.x.min|) (* |g.s0.x.xo| 4)))
(assert (not (and (and (and (and (<= 0 |g.s0.x.xo|) (< |g.s0.x.xo| (div (+ |?cpu g.s0.x.len| 3) 4))) (and (<= 0 |g.s0.x.xi|) (< |g.s0.x.xi| 4))) (= |g.s0.x| (+ (+ |?cpu g.s0.x.min| (* |g.s0.x.xo| 4)) |g.s0.x.xi|))) (< |g.s0.x| (+ |?cpu g.s0.x.min| |?cpu g.s0.x.len|)))))
(check-sat)
(pop 1)

; forall g.s0.x.xo in (0, (?cpu g.s0.x.len + 3)/4): forall g.s0.x.xi in (0, 4): let g.s0.x = ?cpu g.s0.x.min + g.s0.x.xo*4 + g.s0.x.xi: g.s0.x < ?cpu g.s0.x.min + ?cpu g.s0.x.len => g[g.s0.x] in ?mem g   [write]
(push 1)
(declare-const |g.s0.x.xo| Int)
(assert (<= 0 |g.s0.x.xo|))
(assert (< |g.s0.x.xo| (div (+ |?cpu g.s0.x.len| 3) 4)))
(declare-const |g.s0.x.xi| Int)
(assert (<= 0 |g.s0.x.xi|))
(assert (< |g.s0.x.xi| 4))
(define-fun |g.s0.x| () Int (+ (+ |?cpu g.s0.x.min| (* |g.s0.x.xo| 4)) |g.s0.x.xi|))
(assert (< |g.s0.x| (+ |?cpu g.s0.x.min| |?cpu g.s0.x.len|)))
(assert (not (and (<= |?mem g.x.min| |g.s0.x|) (< |g.s0.x| (+ |?mem g.x.min| |?mem g.x.len|)))))
(check-sat)
(pop 1)

; ?cpu g.s0 in ?mem g   [memory]
(push 1)
(assert (not (or (<= |?cpu g.s0.x.len| 0) (and (<= |?mem g.x.min| |?cpu g.s0.x.min|) (<= (+ |?cpu g.s0.x.min| |?cpu g.s0.x.len|) (+ |?mem g.x.min| |?mem g.x.len|))))))
(check-sat)
(pop 1)

; forall g.s0.x.xo in (0, (?cpu g.s0.x.len + 3)/4): forall g.s0.x.xi in (0, 4): let g.s0.x = ?cpu g.s0.x.min + g.s0.x.xo*4 + g.s0.x.xi: g.s0.x < ?cpu g.s0.x.min + ?cpu g.s0.x.len => f[g.s0.x - 1 | g.s0.x] in ?cpu f.s0   [index]
(push 1)
(declare-const |g.s0.x.xo| Int)
(assert (<= 0 |g.s0.x.xo|))
(assert (< |g.s0.x.xo| (div (+ |?cpu g.s0.x.len| 3) 4)))
(declare-const |g.s0.x.xi| Int)
(assert (<= 0 |g.s0.x.xi|))
(assert (< |g.s0.x.xi| 4))
(define-fun |g.s0.x| () Int (+ (+ |?cpu g.s0.x.min| (* |g.s0.x.xo| 4)) |g.s0.x.xi|))
(assert (< |g.s0.x| (+ |?cpu g.s0.x.min| |?cpu g.s0.x.len|)))
(assert (not (let ((|t!1| (- |g.s0.x| 1))) (let ((|t!2| (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|))) (and (and (<= |?cpu f.s0.x.min| |t!1|) (< |t!1| |t!2|)) (and (<= |?cpu f.s0.x.min| |g.s0.x|) (< |g.s0.x| |t!2|)))))))
(check-sat)
(pop 1)

; forall g.s0.x.xo in (0, (?cpu g.s0.x.len + 3)/4): forall g.s0.x.xi in (0, 4): let g.s0.x = ?cpu g.s0.x.min + g.s0.x.xo*4 + g.s0.x.xi: g.s0.x < ?cpu g.s0.x.min + ?cpu g.s0.x.len => f[int64(uint8(f[g.s0.x - 1]))%4] in ?cpu f.s0   [value]
(push 1)
(declare-const |g.s0.x.xo| Int)
(assert (<= 0 |g.s0.x.xo|))
(assert (< |g.s0.x.xo| (div (+ |?cpu g.s0.x.len| 3) 4)))
(declare-const |g.s0.x.xi| Int)
(assert (<= 0 |g.s0.x.xi|))
(assert (< |g.s0.x.xi| 4))
(define-fun |g.s0.x| () Int (+ (+ |?cpu g.s0.x.min| (* |g.s0.x.xo| 4)) |g.s0.x.xi|))
(assert (< |g.s0.x| (+ |?cpu g.s0.x.min| |?cpu g.s0.x.len|)))
(assert (let ((|t!3| (|f[]| (- |g.s0.x| 1)))) (and (<= 0 |t!3|) (<= |t!3| 15))))
(assert (not (let ((|t!4| (mod (|f[]| (- |g.s0.x| 1)) 4))) (and (<= |?cpu f.s0.x.min| |t!4|) (< |t!4| (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|))))))
(check-sat)
(pop 1)

; 0 <= ?cpu f.s0.x.len   [length]
(push 1)
(assert (not (<= 0 |?cpu f.s0.x.len|)))
(check-sat)
(pop 1)

; forall f.s0.x in (?cpu f.s0.x.min, ?cpu f.s0.x.len): (f.s0.x) is an iteration of f.s0   [loops]
(push 1)
(declare-const |f.s0.x| Int)
(assert (<= |?cpu f.s0.x.min| |f.s0.x|))
(assert (< |f.s0.x| (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|)))
(assert (not true))
(check-sat)
(pop 1)

; forall f.s0.x in (?cpu f.s0.x.min, ?cpu f.s0.x.len): f[f.s0.x] in ?mem f   [write]
(push 1)
(declare-const |f.s0.x| Int)
(assert (<= |?cpu f.s0.x.min| |f.s0.x|))
(assert (< |f.s0.x| (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|)))
(assert (not (and (<= |?mem f.x.min| |f.s0.x|) (< |f.s0.x| (+ |?mem f.x.min| |?mem f.x.len|)))))
(check-sat)
(pop 1)

; ?cpu f.s0 in ?mem f   [memory]
(push 1)
(assert (not (or (<= |?cpu f.s0.x.len| 0) (and (<= |?mem f.x.min| |?cpu f.s0.x.min|) (<= (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|) (+ |?mem f.x.min| |?mem f.x.len|))))))
(check-sat)
(pop 1)

; forall f.s0.x in (?cpu f.s0.x.min, ?cpu f.s0.x.len): keys[f.s0.x] in ?input keys   [value]
(push 1)
(declare-const |f.s0.x| Int)
(assert (<= |?cpu f.s0.x.min| |f.s0.x|))
(assert (< |f.s0.x| (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|)))
(assert (not (and (<= |?mem keys.0.min| |f.s0.x|) (< |f.s0.x| (+ |?mem keys.0.min| |?mem keys.0.len|)))))
(check-sat)
(pop 1)

; forall g.s0.x.xo in (0, (?cpu g.s0.x.len + 3)/4): forall g.s0.x.xi in (0, 4): let g.s0.x = ?cpu g.s0.x.min + g.s0.x.xo*4 + g.s0.x.xi: g.s0.x < ?cpu g.s0.x.min + ?cpu g.s0.x.len => im[int64(f[g.s0.x]) | max(min(7*g.s0.x - 3, 9), 2)] in ?input im   [value]
(push 1)
(declare-const |g.s0.x.xo| Int)
(assert (<= 0 |g.s0.x.xo|))
(assert (< |g.s0.x.xo| (div (+ |?cpu g.s0.x.len| 3) 4)))
(declare-const |g.s0.x.xi| Int)
(assert (<= 0 |g.s0.x.xi|))
(assert (< |g.s0.x.xi| 4))
(define-fun |g.s0.x| () Int (+ (+ |?cpu g.s0.x.min| (* |g.s0.x.xo| 4)) |g.s0.x.xi|))
(assert (< |g.s0.x| (+ |?cpu g.s0.x.min| |?cpu g.s0.x.len|)))
(assert (let ((|t!5| (|f[]| |g.s0.x|))) (and (<= 0 |t!5|) (<= |t!5| 15))))
(assert (not (let ((|t!6| (|f[]| |g.s0.x|))) (let ((|t!7| (+ |?mem im.0.min| |?mem im.0.len|))) (let ((|t!8| (|max| (|min| (- (* 7 |g.s0.x|) 3) 9) 2))) (and (and (<= |?mem im.0.min| |t!6|) (< |t!6| |t!7|)) (and (<= |?mem im.0.min| |t!8|) (< |t!8| |t!7|))))))))
(check-sat)
(pop 1)

; ?mem g in the buffer g   [memory]
(push 1)
(assert (not (or (<= |?mem g.x.len| 0) (and (<= |g.min.0| |?mem g.x.min|) (<= (+ |?mem g.x.min| |?mem g.x.len|) (+ |g.min.0| |g.extent.0|))))))
(check-sat)
(pop 1)

; ?mem keys in the buffer keys   [memory]
(push 1)
(assert (not (or (<= |?mem keys.0.len| 0) (and (<= |keys.min.0| |?mem keys.0.min|) (<= (+ |?mem keys.0.min| |?mem keys.0.len|) (+ |keys.min.0| |keys.extent.0|))))))
(check-sat)
(pop 1)

; ?mem im in the buffer im   [memory]
(push 1)
(assert (not (or (<= |?mem im.0.len| 0) (and (<= |im.min.0| |?mem im.0.min|) (<= (+ |?mem im.0.min| |?mem im.0.len|) (+ |im.min.0| |im.extent.0|))))))
(check-sat)
(pop 1)

; forall f.s0.x in (?cpu f.s0.x.min, ?cpu f.s0.x.len): f.s0 gives values from 0 to 15
(push 1)
(declare-const |f.s0.x| Int)
(assert (<= |?cpu f.s0.x.min| |f.s0.x|))
(assert (< |f.s0.x| (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|)))
(assert (let ((|t!9| (|keys[]| |f.s0.x|))) (and (<= (- 2147483648) |t!9|) (<= |t!9| 2147483647))))
(assert (not (let ((|t!10| (|max| (|min| (|keys[]| |f.s0.x|) 15) 0))) (and (<= 0 |t!10|) (<= |t!10| 15)))))
(check-sat)
(pop 1)

; forall g.s0.x.xo in (0, (?cpu g.s0.x.len + 3)/4): forall g.s0.x.xi in (0, 4): let g.s0.x = ?cpu g.s0.x.min + g.s0.x.xo*4 + g.s0.x.xi: g.s0.x < ?cpu g.s0.x.min + ?cpu g.s0.x.len => g.s0 gives values from -32768 to 32782
(push 1)
(declare-const |g.s0.x.xo| Int)
(assert (<= 0 |g.s0.x.xo|))
(assert (< |g.s0.x.xo| (div (+ |?cpu g.s0.x.len| 3) 4)))
(declare-const |g.s0.x.xi| Int)
(assert (<= 0 |g.s0.x.xi|))
(assert (< |g.s0.x.xi| 4))
(define-fun |g.s0.x| () Int (+ (+ |?cpu g.s0.x.min| (* |g.s0.x.xo| 4)) |g.s0.x.xi|))
(assert (< |g.s0.x| (+ |?cpu g.s0.x.min| |?cpu g.s0.x.len|)))
(assert (let ((|t!11| (|f[]| |g.s0.x|))) (and (<= 0 |t!11|) (<= |t!11| 15))))
(assert (let ((|t!12| (|im[]| (|f[]| |g.s0.x|)))) (and (<= (- 32768) |t!12|) (<= |t!12| 32767))))
(assert (let ((|t!13| (|im[]| (|max| (|min| (- (* 7 |g.s0.x|) 3) 9) 2)))) (and (<= (- 32768) |t!13|) (<= |t!13| 32767))))
(assert (let ((|t!14| (|f[]| (- |g.s0.x| 1)))) (and (<= 0 |t!14|) (<= |t!14| 15))))
(assert (let ((|t!15| (|f[]| (mod (|f[]| (- |g.s0.x| 1)) 4)))) (and (<= 0 |t!15|) (<= |t!15| 15))))
(assert (not (let ((|t!16| (+ (|wrap int16| (+ (|im[]| (|f[]| |g.s0.x|)) (|im[]| (|max| (|min| (- (* 7 |g.s0.x|) 3) 9) 2)))) (|f[]| (mod (|f[]| (- |g.s0.x| 1)) 4))))) (and (<= (- 32768) |t!16|) (<= |t!16| 32782)))))
(check-sat)
(pop 1)
