/* What wrappers for PyTorch share. */
#ifndef HALIDE_CORE_PYTORCH_SUPPORT
#define HALIDE_CORE_PYTORCH_SUPPORT

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "halide_runtime.h"

namespace halide_core_pytorch {

// A tensor's memory, as a pipeline sees it: a tensor's last axis is a buffer's first dimension.
class Described {
public:
    Described(const at::Tensor &tensor, const char *name, at::ScalarType scalar, halide_type_t type, int dimensions)
        : dims_(static_cast<std::size_t>(dimensions) + 1) {
        TORCH_CHECK(tensor.device().is_cpu(), name, " must be a tensor in host memory");
        TORCH_CHECK(!tensor.is_neg() && !tensor.is_conj(), name, " must be resolved: resolve_neg(), resolve_conj()");
        TORCH_CHECK(tensor.scalar_type() == scalar, name, " must be of ", scalar, ", not of ", tensor.scalar_type());
        TORCH_CHECK(tensor.dim() == dimensions, name, " must have ", dimensions, " dimensions, not ", tensor.dim());
        bool is_empty = false;
        for (int d = 0; d < dimensions; ++d) {
            const int axis = dimensions - 1 - d;
            const int64_t size = tensor.size(axis), stride = tensor.stride(axis);
            TORCH_CHECK(size <= INT32_MAX && stride <= INT32_MAX, name, " is larger than a buffer can be");
            is_empty = is_empty || size == 0;
            // An axis with one element may have any stride.
            dims_[static_cast<std::size_t>(d)] = {0, static_cast<int32_t>(size),
                                                  static_cast<int32_t>(d == 0 && size == 1 ? 1 : stride), 0};
        }
        TORCH_CHECK(is_empty || tensor.data_ptr(), name, " has no memory");
        // An empty tensor has no address, which would ask the pipeline what it needs, and compute nothing.
        alignas(4096) static uint8_t nothing[1];
        buffer_.host = is_empty ? nothing : static_cast<uint8_t *>(tensor.data_ptr());
        buffer_.type = type;
        buffer_.dimensions = dimensions;
        buffer_.dim = dims_.data();
    }
    Described(const Described &) = delete;
    Described &operator=(const Described &) = delete;

    halide_buffer_t *buffer() {
        return &buffer_;
    }

private:
    std::vector<halide_dimension_t> dims_;
    halide_buffer_t buffer_{};
};

}  // namespace halide_core_pytorch

#endif
