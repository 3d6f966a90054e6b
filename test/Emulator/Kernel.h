//===- Kernel.h - What emulated kernels call --------------------*- C++ -*-===//
//
// The functions that stand for instructions of PTX. Each acts for the thread of
// the device that calls it and knows its place by itself.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_EMULATOR_KERNEL_H
#define HEDDLE_TEST_EMULATOR_KERNEL_H

#include <cstdint>

extern "C" {
int hdemu_read_ptx_sreg_tid_x(void);
int hdemu_read_ptx_sreg_ntid_x(void);
int hdemu_read_ptx_sreg_ctaid_x(void);
int hdemu_read_ptx_sreg_nctaid_x(void);
int hdemu_read_ptx_sreg_laneid(void);

/// What lane (own lane XOR `lanes`) or `lane` of the warp brings as `v`. `mask`
/// says which lanes meet; `clamp` is 31.
float hdemu_shfl_sync_bfly_f32(int mask, float v, int lanes, int clamp);
int hdemu_shfl_sync_bfly_i32(int mask, int v, int lanes, int clamp);
float hdemu_shfl_sync_idx_f32(int mask, float v, int lane, int clamp);
int hdemu_shfl_sync_idx_i32(int mask, int v, int lane, int clamp);

void hdemu_bar_warp_sync(int mask);
void hdemu_barrier_cta_sync_aligned_all(int barrier);
/// Whether some thread of the block says so.
bool hdemu_barrier_cta_red_or_aligned_all(int barrier, bool mine);

/// A copy of `bytes` of the 4 or 16 bytes to shared memory, the rest of them 0,
/// that is done by the time its group has been waited for.
void hdemu_cp_async_ca_shared_global_4_s(char *to, const char *from, int bytes);
void hdemu_cp_async_cg_shared_global_16_s(char *to, const char *from, int bytes);
void hdemu_cp_async_commit_group(void);
void hdemu_cp_async_wait_group(int pending);

/// Four matrices of 8 x 8 halves: lane l says where row l % 8 of matrix l / 8
/// begins, and gets of each matrix the pair l % 4 of row l / 4.
void hdemu_ldmatrix_sync_aligned_m8n8_x4_b16_p3(int *out, const char *row);
/// The same matrices turned: lane l gets of each column l / 4 the halves of rows
/// 2 (l % 4) and the one below.
void hdemu_ldmatrix_sync_aligned_m8n8_x4_trans_b16_p3(int *out, const char *row);
/// sum + left * right of 16 x 16 by 16 x 8 bf16, in the registers that PTX says.
void hdemu_mma_m16n8k16_row_col_bf16(float *out, int a0, int a1, int a2, int a3, int b0, int b1, float c0, float c1,
                                     float c2, float c3);

/// Barriers of slots (Phases.h). Copies in bulk take the last four arguments for
/// clusters and hints, of which none are generated.
void hdemu_mbarrier_init_shared(char *at, int arrivals);
void hdemu_fence_mbarrier_init_release_cluster(void);
int64_t hdemu_mbarrier_arrive_expect_tx_scope_cta_space_cta(char *at, int bytes);
void hdemu_mbarrier_wait(int64_t at, int parity);
void hdemu_cp_async_bulk_global_to_shared_cluster(char *to, char *at, const char *from, int bytes, short, int64_t, bool,
                                                  bool);

/// Products of groups of warps (Groups.h). The registers of one are at `sums`.
void hdemu_wgmma_fence_sync_aligned(void);
void hdemu_wgmma(float *sums, int columns, int64_t left, int64_t right);
void hdemu_wgmma_held(float *sums, int columns, int a, int b, int c, int d, int64_t right);
void hdemu_fence_proxy_async(void);
void hdemu_wgmma_commit_group_sync_aligned(void);
void hdemu_wgmma_wait_group_sync_aligned(int64_t pending);
void hdemu_wgmma_settle(float *sums, int count);

/// The block's shared memory, NaN when the block begins.
char *hdemu_shared(void);

/// An access of `bytes` bytes that comes next.
void hdemu_load(const void *p, int bytes);
void hdemu_store(const void *p, int bytes);
}

#endif // HEDDLE_TEST_EMULATOR_KERNEL_H
