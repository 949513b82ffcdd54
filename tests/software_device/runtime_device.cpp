// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Exported: devices and errors of the CUDA runtime.
#include "api_call.hpp"
#include "capture.hpp"
#include "memory.hpp"

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>
#include <map>

using namespace software_device;

namespace {

struct error_text {
  cudaError_t code;
  char const* name;
  char const* text;
};

constexpr error_text error_texts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorIllegalState, "cudaErrorIllegalState",
     "the operation cannot be performed in the present state"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotPermitted, "cudaErrorNotPermitted", "operation not permitted"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureMerge, "cudaErrorStreamCaptureMerge",
     "operation would result in a merge of separate capture sequences"},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched",
     "capture was not ended in the same stream as it began"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
    {cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {cudaErrorCapturedEvent, "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {cudaErrorStreamCaptureWrongThread, "cudaErrorStreamCaptureWrongThread",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {cudaErrorGraphExecUpdateFailure, "cudaErrorGraphExecUpdateFailure",
     "the graph update was not performed because it included changes which violated constraints"},
};

error_text const* text_of(cudaError_t code) {
  for (auto const& each : error_texts)
    if (each.code == code) return &each;
  return nullptr;
}

std::mutex attribute_mutex;
std::map<cudaDeviceAttr, int> const usual_attributes = {
    {cudaDevAttrMultiProcessorCount, 132},  {cudaDevAttrComputeCapabilityMajor, 9},
    {cudaDevAttrComputeCapabilityMinor, 0}, {cudaDevAttrUnifiedAddressing, 1},
    {cudaDevAttrAsyncEngineCount, 3},       {cudaDevAttrStreamPrioritiesSupported, 1},
    {cudaDevAttrMaxThreadsPerBlock, 1024},  {cudaDevAttrWarpSize, 32},
    {cudaDevAttrConcurrentKernels, 1},      {cudaDevAttrCanUseHostPointerForRegisteredMem, 1},
    {cudaDevAttrMemoryPoolsSupported, 0},
};
std::map<cudaDeviceAttr, int> attributes = usual_attributes;

bool is_device(int device) { return device >= 0 && device < device_count(); }

}  // namespace

namespace software_device {

void report_attribute(cudaDeviceAttr attribute, int value) {
  std::lock_guard lock{attribute_mutex};
  attributes[attribute] = value;
}

void forget_attributes();
void forget_attributes() {
  std::lock_guard lock{attribute_mutex};
  attributes = usual_attributes;
}

}  // namespace software_device

cudaError_t cudaGetDeviceCount(int* count) {
  return call<"cudaGetDeviceCount">([&] {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = device_count();
    return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return plain_call<"cudaGetDevice">([&] {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = this_thread().device;
    return device_count() > 0 ? cudaSuccess : cudaErrorNoDevice;
  });
}

cudaError_t cudaSetDevice(int device) {
  return plain_call<"cudaSetDevice">([&] {
    if (device_count() == 0) return this_thread().last_error = cudaErrorNoDevice;
    if (!is_device(device)) return this_thread().last_error = cudaErrorInvalidDevice;
    this_thread().device = device;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call<"cudaDeviceGetAttribute">([&] {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    std::lock_guard lock{attribute_mutex};
    auto const found = attributes.find(attribute);
    if (value == nullptr || found == attributes.end()) return cudaErrorInvalidValue;
    *value = found->second;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return call<"cudaGetDeviceProperties">([&] {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    if (properties == nullptr) return cudaErrorInvalidValue;
    std::lock_guard lock{attribute_mutex};
    *properties = {};
    std::snprintf(properties->name, sizeof properties->name, "software device %d", device);
    properties->totalGlobalMem = capacity_of_a_device();
    properties->major = attributes[cudaDevAttrComputeCapabilityMajor];
    properties->minor = attributes[cudaDevAttrComputeCapabilityMinor];
    properties->multiProcessorCount = attributes[cudaDevAttrMultiProcessorCount];
    properties->warpSize = 32;
    properties->unifiedAddressing = 1;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call<"cudaDeviceGetStreamPriorityRange">([&] {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call<"cudaDeviceCanAccessPeer">([&] {
    if (!is_device(device) || !is_device(peer)) return cudaErrorInvalidDevice;
    if (can == nullptr) return cudaErrorInvalidValue;
    *can = device != peer ? 1 : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return call<"cudaDeviceEnablePeerAccess">([&] {
    auto const device = this_thread().device;
    if (!is_device(peer) || peer == device) return cudaErrorInvalidDevice;
    if (flags != 0) return cudaErrorInvalidValue;
    if (peer_access_allowed(device, peer)) return cudaErrorPeerAccessAlreadyEnabled;
    allow_peer_access(device, peer, true);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call<"cudaDeviceDisablePeerAccess">([&] {
    auto const device = this_thread().device;
    if (!is_device(peer)) return cudaErrorInvalidDevice;
    if (peer == device || !peer_access_allowed(device, peer)) return cudaErrorPeerAccessNotEnabled;
    allow_peer_access(device, peer, false);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call<"cudaDeviceSynchronize">([&] {
    if (auto const error = refuse_unsafe_call(); error != cudaSuccess) return error;
    wait_idle(this_thread().device);
    return device_error(this_thread().device);
  });
}

cudaError_t cudaGetLastError() {
  return plain_call<"cudaGetLastError">([&] {
    auto const sticky = device_error(this_thread().device);
    auto const last = this_thread().last_error;
    this_thread().last_error = cudaSuccess;
    return sticky != cudaSuccess ? sticky : last;
  });
}

cudaError_t cudaPeekAtLastError() {
  return plain_call<"cudaPeekAtLastError">([&] {
    auto const sticky = device_error(this_thread().device);
    return sticky != cudaSuccess ? sticky : this_thread().last_error;
  });
}

char const* cudaGetErrorName(cudaError_t code) {
  return plain_call<"cudaGetErrorName">([&] {
    auto const* const found = text_of(code);
    return found != nullptr ? found->name : "unrecognized error code";
  });
}

char const* cudaGetErrorString(cudaError_t code) {
  return plain_call<"cudaGetErrorString">([&] {
    auto const* const found = text_of(code);
    return found != nullptr ? found->text : "unrecognized error code";
  });
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return plain_call<"cudaRuntimeGetVersion">([&] {
    *version = CUDART_VERSION;
    return cudaSuccess;
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return plain_call<"cudaDriverGetVersion">([&] {
    *version = CUDART_VERSION;
    return cudaSuccess;
  });
}
