"""Pictures of a batch made on a device, by NVIDIA Warp."""
