; The bounds query of floats, with its holes open. sat: there is an answer for some inputs. The
; parameters and the windows are free: assert what they are to ask for their answer.
(set-logic UFLIA)
(declare-sort |value float32| 0)
(define-fun |min| ((a Int) (b Int)) Int (ite (< a b) a b))
(define-fun |wrap int32| ((a Int)) Int (ite (and (<= (- 2147483648) a) (<= a 2147483647)) a (+ (mod (- a (- 2147483648)) 4294967296) (- 2147483648))))
(define-fun |max| ((a Int) (b Int)) Int (ite (> a b) a b))
(declare-fun |f.extent.0| () Int)
(declare-fun |f.min.0| () Int)
(declare-fun |float32 of int32| (Int) |value float32|)
(declare-fun |float32 1.5| () |value float32|)
(declare-fun |float32 *| (|value float32| |value float32|) |value float32|)
(declare-fun |float32 0.5| () |value float32|)
(declare-fun |float32 +| (|value float32| |value float32|) |value float32|)
(declare-fun |float32 floor| (|value float32|) |value float32|)
(declare-fun |int32 of float32| (|value float32|) Int)
(declare-fun |?cpu f.s0.x.min| () Int)
(declare-fun |?cpu f.s0.x.len| () Int)
(declare-fun |?mem f.x.min| () Int)
(declare-fun |?mem f.x.len| () Int)
(declare-fun |?mem im.0.min| () Int)
(declare-fun |?mem im.0.len| () Int)
(assert (and (<= 0 |f.extent.0|) (<= |f.extent.0| 2147483647)))
(assert (and (<= (- 2147483648) |f.min.0|) (<= |f.min.0| 2147483647)))

; window of f in ?cpu f.s0   [window]
(assert (! (or (<= |f.extent.0| 0) (and (<= |?cpu f.s0.x.min| |f.min.0|) (<= (+ |f.min.0| |f.extent.0|) (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|)))) :named c1))

; 8 <= ?cpu f.s0.x.len   [assert: f.split(x, x, x.v, 8)]
(assert (! (<= 8 |?cpu f.s0.x.len|) :named c2))

; 0 <= (?cpu f.s0.x.len + 7)/8   [length]
(assert (! (<= 0 (div (+ |?cpu f.s0.x.len| 7) 8)) :named c3))

; forall f.s0.x in (?cpu f.s0.x.min, ?cpu f.s0.x.len): let f.s0.x.x = (f.s0.x - ?cpu f.s0.x.min)/8: let f.s0.x.x.v = f.s0.x - ?cpu f.s0.x.min - min(f.s0.x.x*8 + 8, ?cpu f.s0.x.len) + 8: (f.s0.x.x, f.s0.x.x.v) is an iteration of f.s0   [loops]
(assert (! (forall ((|f.s0.x| Int)) (=> (and (<= |?cpu f.s0.x.min| |f.s0.x|) (< |f.s0.x| (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|))) (let ((|f.s0.x.x| (div (- |f.s0.x| |?cpu f.s0.x.min|) 8))) (let ((|f.s0.x.x.v| (+ (- (- |f.s0.x| |?cpu f.s0.x.min|) (|min| (+ (* |f.s0.x.x| 8) 8) |?cpu f.s0.x.len|)) 8))) (and (and (and (<= 0 |f.s0.x.x|) (< |f.s0.x.x| (div (+ |?cpu f.s0.x.len| 7) 8))) (and (<= 0 |f.s0.x.x.v|) (< |f.s0.x.x.v| 8))) (= |f.s0.x| (- (+ (+ |?cpu f.s0.x.min| (|min| (+ (* |f.s0.x.x| 8) 8) |?cpu f.s0.x.len|)) |f.s0.x.x.v|) 8))))))) :named c4))

; forall f.s0.x.x in (0, (?cpu f.s0.x.len + 7)/8): forall f.s0.x.x.v in (0, 8): let f.s0.x = ?cpu f.s0.x.min + min(f.s0.x.x*8 + 8, ?cpu f.s0.x.len) + f.s0.x.x.v - 8: f[f.s0.x] in ?mem f   [write]
(assert (! (forall ((|f.s0.x.x| Int)) (=> (and (<= 0 |f.s0.x.x|) (< |f.s0.x.x| (div (+ |?cpu f.s0.x.len| 7) 8))) (forall ((|f.s0.x.x.v| Int)) (=> (and (<= 0 |f.s0.x.x.v|) (< |f.s0.x.x.v| 8)) (let ((|f.s0.x| (- (+ (+ |?cpu f.s0.x.min| (|min| (+ (* |f.s0.x.x| 8) 8) |?cpu f.s0.x.len|)) |f.s0.x.x.v|) 8))) (and (<= |?mem f.x.min| |f.s0.x|) (< |f.s0.x| (+ |?mem f.x.min| |?mem f.x.len|)))))))) :named c5))

; ?cpu f.s0 in ?mem f   [memory]
(assert (! (or (<= |?cpu f.s0.x.len| 0) (and (<= |?mem f.x.min| |?cpu f.s0.x.min|) (<= (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|) (+ |?mem f.x.min| |?mem f.x.len|)))) :named c6))

; forall f.s0.x.x in (0, (?cpu f.s0.x.len + 7)/8): forall f.s0.x.x.v in (0, 8): let f.s0.x = ?cpu f.s0.x.min + min(f.s0.x.x*8 + 8, ?cpu f.s0.x.len) + f.s0.x.x.v - 8: im[max(min(int64(int32(floor(float32(int32(f.s0.x))*1.5f + 0.5f))), 39), 0) | max(min(int64(int32(floor(float32(int32(f.s0.x))*1.5f + 0.5f)) + 1), 39), 0)] in ?input im   [value]
(assert (! (forall ((|f.s0.x.x| Int)) (=> (and (<= 0 |f.s0.x.x|) (< |f.s0.x.x| (div (+ |?cpu f.s0.x.len| 7) 8))) (forall ((|f.s0.x.x.v| Int)) (=> (and (<= 0 |f.s0.x.x.v|) (< |f.s0.x.x.v| 8)) (let ((|f.s0.x| (- (+ (+ |?cpu f.s0.x.min| (|min| (+ (* |f.s0.x.x| 8) 8) |?cpu f.s0.x.len|)) |f.s0.x.x.v|) 8))) (=> (let ((|t!1| (|int32 of float32| (|float32 floor| (|float32 +| (|float32 *| (|float32 of int32| (|wrap int32| |f.s0.x|)) |float32 1.5|) |float32 0.5|))))) (and (<= (- 2147483648) |t!1|) (<= |t!1| 2147483647))) (let ((|t!2| (|int32 of float32| (|float32 floor| (|float32 +| (|float32 *| (|float32 of int32| (|wrap int32| |f.s0.x|)) |float32 1.5|) |float32 0.5|))))) (let ((|t!3| (|max| (|min| |t!2| 39) 0))) (let ((|t!4| (+ |?mem im.0.min| |?mem im.0.len|))) (let ((|t!5| (|max| (|min| (|wrap int32| (+ |t!2| 1)) 39) 0))) (and (and (<= |?mem im.0.min| |t!3|) (< |t!3| |t!4|)) (and (<= |?mem im.0.min| |t!5|) (< |t!5| |t!4|))))))))))))) :named c7))

(check-sat)

; The bounds query of floats, with its answers in place of the holes. Every check must say unsat:
; no inputs and no memory make a conjunct fail. The first assertions are what a run may take for granted:
; the ranges of its arguments and the start-up checks.
(set-logic QF_UFLIA)
(declare-sort |value float32| 0)
(define-fun |max| ((a Int) (b Int)) Int (ite (> a b) a b))
(define-fun |min| ((a Int) (b Int)) Int (ite (< a b) a b))
(define-fun |wrap int32| ((a Int)) Int (ite (and (<= (- 2147483648) a) (<= a 2147483647)) a (+ (mod (- a (- 2147483648)) 4294967296) (- 2147483648))))
(declare-fun |f.min.0| () Int)
(declare-fun |f.extent.0| () Int)
(declare-fun |float32 of int64| (Int) |value float32|)
(declare-fun |float32 1.5| () |value float32|)
(declare-fun |float32 *| (|value float32| |value float32|) |value float32|)
(declare-fun |float32 0.5| () |value float32|)
(declare-fun |float32 +| (|value float32| |value float32|) |value float32|)
(declare-fun |float32 floor| (|value float32|) |value float32|)
(declare-fun |int32 of float32| (|value float32|) Int)
(declare-fun |float32 of int32| (Int) |value float32|)
(declare-fun |im.min.0| () Int)
(declare-fun |im.extent.0| () Int)
(define-fun |?cpu f.s0.x.min| () Int |f.min.0|)
(define-fun |?cpu f.s0.x.len| () Int (|max| |f.extent.0| 8))
(define-fun |?mem f.x.min| () Int |f.min.0|)
(define-fun |?mem f.x.len| () Int (|max| |f.extent.0| 8))
(define-fun |?mem im.0.min| () Int (let ((|t!1| (|int32 of float32| (|float32 floor| (|float32 +| (|float32 *| (|float32 of int64| |f.min.0|) |float32 1.5|) |float32 0.5|))))) (|min| (|max| (|min| |t!1| 39) 0) (|max| (|min| (ite (<= (|int32 of float32| (|float32 floor| (|float32 +| (|float32 *| (|float32 of int64| (- (+ |f.min.0| (|max| |f.extent.0| 8)) 1)) |float32 1.5|) |float32 0.5|))) 2147483646) (+ |t!1| 1) (- 2147483648)) 39) 0))))
(define-fun |?mem im.0.len| () Int (let ((|t!2| (|int32 of float32| (|float32 floor| (|float32 +| (|float32 *| (|float32 of int64| (- (+ |f.min.0| (|max| |f.extent.0| 8)) 1)) |float32 1.5|) |float32 0.5|))))) (let ((|t!3| (|int32 of float32| (|float32 floor| (|float32 +| (|float32 *| (|float32 of int64| |f.min.0|) |float32 1.5|) |float32 0.5|))))) (+ (|max| (- (|max| (|min| (|min| |t!2| 2147483646) 38) (- 1)) (|min| (|max| (|min| |t!3| 39) 0) (|max| (|min| (ite (<= |t!2| 2147483646) (+ |t!3| 1) (- 2147483648)) 39) 0))) (- 2)) 2))))
(assert (and (<= (- 2147483648) |f.min.0|) (<= |f.min.0| 2147483647)))
(assert (and (<= 0 |f.extent.0|) (<= |f.extent.0| 2147483647)))
(assert (and (<= (- 2147483648) |im.min.0|) (<= |im.min.0| 2147483647)))
(assert (and (<= 0 |im.extent.0|) (<= |im.extent.0| 2147483647)))
(assert (< 0 |f.extent.0|))
(assert (<= (- (+ |f.min.0| (|max| |f.extent.0| 8)) 1) (- (+ |f.min.0| |f.extent.0|) 1)))
(assert (and (<= (- 1073741824) |f.min.0|) (<= (- (+ |f.min.0| |f.extent.0|) 1) 1073741824)))
(assert (let ((|t!9| (|int32 of float32| (|float32 floor| (|float32 +| (|float32 *| (|float32 of int64| (- (+ |f.min.0| (|max| |f.extent.0| 8)) 1)) |float32 1.5|) |float32 0.5|))))) (let ((|t!10| (|int32 of float32| (|float32 floor| (|float32 +| (|float32 *| (|float32 of int64| |f.min.0|) |float32 1.5|) |float32 0.5|))))) (let ((|t!11| (|min| (|max| (|min| |t!10| 39) 0) (|max| (|min| (ite (<= |t!9| 2147483646) (+ |t!10| 1) (- 2147483648)) 39) 0)))) (let ((|t!12| (+ (|max| (- (|max| (|min| (|min| |t!9| 2147483646) 38) (- 1)) |t!11|) (- 2)) 2))) (or (< |t!12| 1) (and (<= |im.min.0| |t!11|) (<= (+ |t!11| |t!12|) (+ |im.min.0| |im.extent.0|)))))))))

; window of f in ?cpu f.s0   [window]
(push 1)
(assert (not (or (<= |f.extent.0| 0) (and (<= |?cpu f.s0.x.min| |f.min.0|) (<= (+ |f.min.0| |f.extent.0|) (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|))))))
(check-sat)
(pop 1)

; 8 <= ?cpu f.s0.x.len   [assert: f.split(x, x, x.v, 8)]
(push 1)
(assert (not (<= 8 |?cpu f.s0.x.len|)))
(check-sat)
(pop 1)

; 0 <= (?cpu f.s0.x.len + 7)/8   [length]
(push 1)
(assert (not (<= 0 (div (+ |?cpu f.s0.x.len| 7) 8))))
(check-sat)
(pop 1)

; forall f.s0.x in (?cpu f.s0.x.min, ?cpu f.s0.x.len): let f.s0.x.x = (f.s0.x - ?cpu f.s0.x.min)/8: let f.s0.x.x.v = f.s0.x - ?cpu f.s0.x.min - min(f.s0.x.x*8 + 8, ?cpu f.s0.x.len) + 8: (f.s0.x.x, f.s0.x.x.v) is an iteration of f.s0   [loops]
(push 1)
(declare-const |f.s0.x| Int)
(assert (<= |?cpu f.s0.x.min| |f.s0.x|))
(assert (< |f.s0.x| (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|)))
(define-fun |f.s0.x.x| () Int (div (- |f.s0.x| |?cpu f.s0.x.min|) 8))
(define-fun |f.s0.x.x.v| () Int (+ (- (- |f.s0.x| |?cpu f.s0.x.min|) (|min| (+ (* |f.s0.x.x| 8) 8) |?cpu f.s0.x.len|)) 8))
(assert (not (and (and (and (<= 0 |f.s0.x.x|) (< |f.s0.x.x| (div (+ |?cpu f.s0.x.len| 7) 8))) (and (<= 0 |f.s0.x.x.v|) (< |f.s0.x.x.v| 8))) (= |f.s0.x| (- (+ (+ |?cpu f.s0.x.min| (|min| (+ (* |f.s0.x.x| 8) 8) |?cpu f.s0.x.len|)) |f.s0.x.x.v|) 8)))))
(check-sat)
(pop 1)

; forall f.s0.x.x in (0, (?cpu f.s0.x.len + 7)/8): forall f.s0.x.x.v in (0, 8): let f.s0.x = ?cpu f.s0.x.min + min(f.s0.x.x*8 + 8, ?cpu f.s0.x.len) + f.s0.x.x.v - 8: f[f.s0.x] in ?mem f   [write]
(push 1)
(declare-const |f.s0.x.x| Int)
(assert (<= 0 |f.s0.x.x|))
(assert (< |f.s0.x.x| (div (+ |?cpu f.s0.x.len| 7) 8)))
(declare-const |f.s0.x.x.v| Int)
(assert (<= 0 |f.s0.x.x.v|))
(assert (< |f.s0.x.x.v| 8))
(define-fun |f.s0.x| () Int (- (+ (+ |?cpu f.s0.x.min| (|min| (+ (* |f.s0.x.x| 8) 8) |?cpu f.s0.x.len|)) |f.s0.x.x.v|) 8))
(assert (not (and (<= |?mem f.x.min| |f.s0.x|) (< |f.s0.x| (+ |?mem f.x.min| |?mem f.x.len|)))))
(check-sat)
(pop 1)

; ?cpu f.s0 in ?mem f   [memory]
(push 1)
(assert (not (or (<= |?cpu f.s0.x.len| 0) (and (<= |?mem f.x.min| |?cpu f.s0.x.min|) (<= (+ |?cpu f.s0.x.min| |?cpu f.s0.x.len|) (+ |?mem f.x.min| |?mem f.x.len|))))))
(check-sat)
(pop 1)

; forall f.s0.x.x in (0, (?cpu f.s0.x.len + 7)/8): forall f.s0.x.x.v in (0, 8): let f.s0.x = ?cpu f.s0.x.min + min(f.s0.x.x*8 + 8, ?cpu f.s0.x.len) + f.s0.x.x.v - 8: im[max(min(int64(int32(floor(float32(int32(f.s0.x))*1.5f + 0.5f))), 39), 0) | max(min(int64(int32(floor(float32(int32(f.s0.x))*1.5f + 0.5f)) + 1), 39), 0)] in ?input im   [value]
(push 1)
(declare-const |f.s0.x.x| Int)
(assert (<= 0 |f.s0.x.x|))
(assert (< |f.s0.x.x| (div (+ |?cpu f.s0.x.len| 7) 8)))
(declare-const |f.s0.x.x.v| Int)
(assert (<= 0 |f.s0.x.x.v|))
(assert (< |f.s0.x.x.v| 8))
(define-fun |f.s0.x| () Int (- (+ (+ |?cpu f.s0.x.min| (|min| (+ (* |f.s0.x.x| 8) 8) |?cpu f.s0.x.len|)) |f.s0.x.x.v|) 8))
(assert (let ((|t!4| (|int32 of float32| (|float32 floor| (|float32 +| (|float32 *| (|float32 of int32| (|wrap int32| |f.s0.x|)) |float32 1.5|) |float32 0.5|))))) (and (<= (- 2147483648) |t!4|) (<= |t!4| 2147483647))))
(assert (not (let ((|t!5| (|int32 of float32| (|float32 floor| (|float32 +| (|float32 *| (|float32 of int32| (|wrap int32| |f.s0.x|)) |float32 1.5|) |float32 0.5|))))) (let ((|t!6| (|max| (|min| |t!5| 39) 0))) (let ((|t!7| (+ |?mem im.0.min| |?mem im.0.len|))) (let ((|t!8| (|max| (|min| (|wrap int32| (+ |t!5| 1)) 39) 0))) (and (and (<= |?mem im.0.min| |t!6|) (< |t!6| |t!7|)) (and (<= |?mem im.0.min| |t!8|) (< |t!8| |t!7|)))))))))
(check-sat)
(pop 1)

; ?mem f in the buffer f   [memory]
(push 1)
(assert (not (or (<= |?mem f.x.len| 0) (and (<= |f.min.0| |?mem f.x.min|) (<= (+ |?mem f.x.min| |?mem f.x.len|) (+ |f.min.0| |f.extent.0|))))))
(check-sat)
(pop 1)

; ?mem im in the buffer im   [memory]
(push 1)
(assert (not (or (<= |?mem im.0.len| 0) (and (<= |im.min.0| |?mem im.0.min|) (<= (+ |?mem im.0.min| |?mem im.0.len|) (+ |im.min.0| |im.extent.0|))))))
(check-sat)
(pop 1)
