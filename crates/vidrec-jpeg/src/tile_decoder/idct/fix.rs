//! `FIX(x)` of jidctint.c and jidctred.c: x times 2^13, rounded.

pub const F_0_211: i32 = 1730;
pub const F_0_298: i32 = 2446;
pub const F_0_390: i32 = 3196;
pub const F_0_509: i32 = 4176;
pub const F_0_541: i32 = 4433;
pub const F_0_601: i32 = 4926;
pub const F_0_720: i32 = 5906;
pub const F_0_765: i32 = 6270;
pub const F_0_850: i32 = 6967;
pub const F_0_899: i32 = 7373;
pub const F_1_061: i32 = 8697;
pub const F_1_175: i32 = 9633;
pub const F_1_272: i32 = 10426;
pub const F_1_451: i32 = 11893;
pub const F_1_501: i32 = 12299;
pub const F_1_847: i32 = 15137;
pub const F_1_961: i32 = 16069;
pub const F_2_053: i32 = 16819;
pub const F_2_172: i32 = 17799;
pub const F_2_562: i32 = 20995;
pub const F_3_072: i32 = 25172;
pub const F_3_624: i32 = 29692;
