"""Runs the machine code of a kernel on a processor, warp by warp, and counts what a GPU would do.

`translate` turns the text that NVIDIA's disassembler prints for sm_80 or sm_89 into C: 32 lanes in step, of which those
with the lowest address run. So the counts have the divergence of real data. An instruction that no kernel of
vidrec had yet ends the program.
"""
import re
from typing import NamedTuple

TEXT = re.compile(r"^\s+/\*([0-9a-f]{4,5})\*/\s+(?:@(!?U?P[T0-9]+) )?\s*([A-Z0-9_.]+)\s*([^;]*);")
ENDS = ("BRA", "EXIT", "CALL", "RET", "BREAK")
# Classes of instructions: a multiprocessor starts 2 warps a cycle of "alu" and "mad", half a warp of "slow" ones.
CLASSES = {
    "mad": ("IMAD", "FADD", "FMUL", "FFMA", "HFMA2", "UIMAD"),
    "slow": ("MUFU", "I2F", "F2I", "F2F", "S2R", "R2UR"),
    "global": ("LDG", "STG", "RED", "CCTL"),
    "local": ("LDL", "STL"),
    "shared": ("LDS", "STS"),
    "control": ("BRA", "BSSY", "BSYNC", "BREAK", "EXIT", "NOP", "YIELD", "WARPSYNC", "CALL", "RET", "BAR"),
}
# Cycles until a result can be used; of loads, see `cycles` in the C below.
LATENCY = {"alu": 5, "mad": 5, "slow": 20, "control": 1, "shared": 23}


class Instruction(NamedTuple):
    at: int
    guard: str
    name: str
    modifiers: tuple
    args: list

    @property
    def kind(self):
        return next((kind for kind, names in CLASSES.items() if self.name in names), "alu")


def instructions(text, function):
    """The instructions of a function in the disassembler's text."""
    of_function = re.search(rf"Function : {function}\n(.*?)(?:\n\t\t\.\.\.\.|\Z)", text, re.S)
    found = []
    for line in of_function[1].splitlines():
        if match := TEXT.match(line):
            name, *modifiers = match[3].split(".")
            args = [arg.strip().replace(".reuse", "") for arg in match[4].split(",") if arg.strip()]
            found.append(Instruction(int(match[1], 16), match[2] or "", name, tuple(modifiers), args))
    return found


def blocks(code):
    """Runs of instructions that begin where branches lead to, and after branches."""
    starts = {code[0].at}
    for this, after in zip(code, [*code[1:], None]):
        if this.name in ("BRA", "CALL"):
            starts.add(int(this.args[-1], 16))
        if this.name in ENDS and after:
            starts.add(after.at)
    found = []
    for each in code:
        if each.at in starts:
            found.append([])
        found[-1].append(each)
    return found


def register(text):
    match = re.search(r"\bR(\d+)\b", text)
    return int(match[1]) if match else None


def value(text):
    """A 32-bit operand in C."""
    if text[0] in "-~" and not re.match(r"-(0x|\d)", text):
        return f"({'~' if text[0] == '~' else '-'}{value(text[1:])})"
    if text[0] == "|":
        return f"absolute({value(text[1:-1])})"
    if text in ("RZ", "URZ", "SRZ"):
        return "0u"
    if match := re.match(r"R(\d+)", text):
        return f"R[{match[1]}][l]"
    if match := re.match(r"UR(\d+)", text):
        return f"U[{match[1]}]"
    if match := re.match(r"c\[0x0\]\[(0x[0-9a-f]+)\]", text):
        return f"c32({match[1]})"
    if re.match(r"-?0x", text):
        return f"((uint32_t){text})"
    return f"as_bits({float(text)}f)"


def wide(text):
    """A 64-bit operand."""
    if text in ("RZ", "URZ"):
        return "0ull"
    if match := re.match(r"(U?)R(\d+)", text):
        n = int(match[2])
        return f"pair(U[{n}],U[{n + 1}])" if match[1] else f"pair(R[{n}][l],R[{n + 1}][l])"
    return f"c64({re.search(r'0x[0-9a-f]+(?=.$)', text)[0]})"


def predicate(text):
    name = text.lstrip("!")
    inner = "1" if name[-1] == "T" else f"V[{name[-1]}]" if name[0] == "U" else f"P[{name[-1]}][l]"
    return f"(!{inner})" if text[0] == "!" else inner


def is_predicate(text):
    return re.fullmatch(r"!?U?P[T0-9]", text) is not None


def into(text, expression):
    """Puts 32 bits into a register."""
    if text in ("RZ", "URZ"):
        return ""
    if text[0] == "U":
        return f"U[{text[2:]}]={expression};"
    return f"R[{text[1:]}][l]={expression};"


def into_wide(text, expression):
    n = int(re.sub(r"\D", "", text))
    file, lane = ("U", "") if text[0] == "U" else ("R", "[l]")
    return f"{{uint64_t w={expression};{file}[{n}]{lane}=(uint32_t)w;{file}[{n + 1}]{lane}=(uint32_t)(w>>32);}}"


def into_predicate(text, expression):
    return "" if text[-1] == "T" else f"{predicate(text)}={expression};"


UNIFORM = ("UIMAD", "UIADD3", "USHF", "ULDC", "UMOV", "ULOP3", "USEL", "UISETP", "ULEA")
# Their operands are read in other ways.
OTHERWISE = ("LDG", "STG", "RED", "LDL", "STL", "LDS", "STS", "CCTL", "S2R", "CS2R", "BRA", "BSSY", "BSYNC", "CALL", "RET", "PLOP3")
COMPARE = {"GE": ">=", "GT": ">", "LE": "<=", "LT": "<", "EQ": "==", "NE": "!="}


def lane(i):
    """What one lane does, in C."""
    args, mods = list(i.args), i.modifiers
    # Those of a warp as a whole begin with U.
    name = i.name[1:] if i.name in UNIFORM else i.name
    # Predicates that a sum sets come after its register.
    outs = []
    if name in ("IADD3", "LEA", "LOP3", "IMAD"):
        if is_predicate(args[0]):
            outs.append(args.pop(0))
        while len(args) > 1 and is_predicate(args[1]):
            outs.append(args.pop(1))
    to = args[0] if args else ""
    s = [] if name in OTHERWISE else [predicate(arg) if is_predicate(arg) else value(arg) for arg in args[1:]]
    if name in ("MOV", "R2UR"):
        return into(to, s[0])
    if name == "LDC" and i.name == "ULDC":
        return into_wide(to, wide(args[1])) if "64" in mods else into(to, s[0])
    if name == "CS2R":
        return into_wide(to, "0ull") if "32" not in mods else into(to, "0u")
    if name == "S2R":
        return into(to, {"SR_TID.X": "tid+l", "SR_CTAID.X": "cta", "SR_LANEID": "l"}[args[1]])
    if name == "HFMA2":
        return into(to, f"(half({float(args[3])}f)<<16|half({float(args[4])}f))")
    if name == "IMAD":
        if "HI" in mods:
            if outs:
                return "unknown();"
            return into(to, f"(uint32_t)(((uint64_t){s[0]}*{s[1]}+{wide(args[3])})>>32)")
        if "WIDE" in mods:
            if outs:
                return "unknown();"
            kind = "(uint64_t)" if "U32" in mods else "(int64_t)(int32_t)"
            other = "" if "U32" in mods else "(int64_t)(int32_t)"
            return into_wide(to, f"(uint64_t)({kind}{s[0]}*{other}({s[1]}))+{wide(args[3])}")
        carry = f"+{s[3]}" if "X" in mods else ""
        return into(to, f"{s[0]}*{s[1]}+{s[2]}{carry}")
    if name == "IADD3":
        if not outs:
            return into(to, "+".join(s))
        parts = [f"(uint64_t)(~{value(a[1:])})+1" if a[0] == "-" and a[1] in "RUc" else f"(uint64_t){value(a)}" for a in args[1:4]]
        sets = "".join(into_predicate(out, f"(sum>>32)>{n}") for n, out in enumerate(outs))
        return "{uint64_t sum=" + "+".join(parts) + ";" + into(to, "(uint32_t)sum") + sets + "}"
    if name == "LEA":
        if "SX32" in mods:
            n = s[2]
            return into(to, f"(uint32_t)((int64_t)(int32_t){s[0]}>>(32-{n}))+{s[1]}")
        if "HI" in mods:
            carry = f"+{s[4]}" if "X" in mods else ""
            total = f"(uint64_t)(uint32_t)((pair({s[0]},{s[2]})<<{s[3]})>>32)+{s[1]}{carry}"
        else:
            total = f"(uint64_t)(uint32_t)({s[0]}<<{s[2]})+{s[1]}"
        sets = into_predicate(outs[0], "sum>>32") if outs else ""
        return "{uint64_t sum=" + total + ";" + into(to, "(uint32_t)sum") + sets + "}"
    if name == "LOP3":
        expression = f"logic({s[0]},{s[1]},{s[2]},{args[4]})"
        sets = into_predicate(outs[0], "w!=0") if outs else ""
        return "{uint32_t w=" + expression + ";" + into(to, "w") + sets + "}"
    if name == "PLOP3":
        a, b, c = (predicate(arg) for arg in args[2:5])
        return into_predicate(to, f"({args[5]}>>({a}*4+{b}*2+{c}))&1")
    if name == "SHF":
        low, by, high = s
        if "L" in mods:
            return into(to, f"(uint32_t)((pair({low},{high})<<upto({by},63))>>32)" if "HI" in mods else f"left({low},{by})")
        if "HI" in mods:
            kind = "int32_t" if "S32" in mods else "uint32_t"
            return into(to, f"(uint32_t)((int64_t)({kind}){high}>>upto({by},32))")
        kind = "int64_t" if "S64" in mods else "uint64_t"
        return into(to, f"(uint32_t)(({kind})pair({low},{high})>>upto({by},63))")
    if name == "PRMT":
        return into(to, f"permute({s[0]},{s[1]},{s[2]})")
    if name in ("SEL", "FSEL"):
        return into(to, f"{s[2]}?{s[0]}:{s[1]}")
    if name in ("IMNMX", "VIMNMX"):
        kind = "uint32_t" if "U32" in mods else "int32_t"
        return into(to, f"(({kind}){s[0]}<({kind}){s[1]})=={s[2]}?{s[0]}:{s[1]}")
    if name == "IABS":
        return into(to, f"(uint32_t)abs((int32_t){s[0]})")
    if name == "ISETP":
        kind = "uint32_t" if "U32" in mods else "int32_t"
        a, b, with_ = f"({kind}){s[1]}", f"({kind}){s[2]}", s[3]
        test = f"({a}{COMPARE[mods[0]]}{b})"
        if "EX" in mods:
            strict = {"GE": ">", "GT": ">", "LE": "<", "LT": "<", "NE": "!=", "EQ": "=="}[mods[0]]
            test = f"({a}=={b}&&{s[4]})" if mods[0] == "EQ" else f"({a}{strict}{b}||({a}=={b}&&{s[4]}))"
        joined = "|" if "OR" in mods else "&"
        return into_predicate(to, f"{test}{joined}{with_}")
    if name == "FSETP":
        a, b = f"as_float({s[1]})", f"as_float({s[2]})"
        test = f"(!({a}<{b}))" if mods[0] == "GEU" else f"(!({a}<={b}))" if mods[0] == "GTU" else f"({a}{COMPARE[mods[0]]}{b})"
        return into_predicate(to, f"{test}&{s[3]}")
    if name in ("FADD", "FMUL"):
        sign = "+" if name == "FADD" else "*"
        return into(to, f"as_bits(as_float({s[0]}){sign}as_float({s[1]}))")
    if name == "FMNMX":
        return into(to, f"as_bits({s[2]}?fminf(as_float({s[0]}),as_float({s[1]})):fmaxf(as_float({s[0]}),as_float({s[1]})))")
    if name == "MUFU":
        return into(to, f"as_bits(1.0f/as_float({s[0]}))")
    if name == "I2F" and "U64" not in mods:
        if "RP" in mods:
            return into(to, f"as_bits(nextafterf((float)({s[0]}),1e30f))")
        return into(to, f"as_bits((float)({'uint32_t' if 'U32' in mods else 'int32_t'}){s[0]})")
    if name == "F2I" and "F64" in mods:
        return into(to, f"(uint32_t)(int32_t)as_double({wide(args[1])})")
    if name == "F2I" and "U64" not in mods:
        rounded = "truncf" if "TRUNC" in mods else "rintf"
        return into(to, f"(uint32_t){rounded}(as_float({s[0]}))")
    if name in ("BSSY", "BSYNC", "NOP", "YIELD", "WARPSYNC", "BREAK"):
        return ""
    return "unknown();"


SIZES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}


def memory(i, when):
    """A load or a store of all lanes, in C."""
    if i.name == "STS":
        return "charge(SHARED);"
    if i.name == "CCTL":
        # Nobody waits for what is fetched ahead.
        base, offset = re.match(r"\[(R\d+)\+?(-?0x[0-9a-f]+)?\]", i.args[0]).groups()
        return f"{{uint8_t on[32];uint64_t at[32];L{{on[l]={when};at[l]={wide(base)}+({offset or 0});}}else on[l]=0;reach(GLOBAL,0,on,at,1);}}"
    size = next((SIZES[m] for m in i.modifiers if m in SIZES), 4)
    is_load = i.name[0] == "L"
    place, other = (i.args[1], i.args[0]) if is_load else i.args[:2]
    base, scale, plus, offset = re.match(r"\[(RZ|R\d+)?(\.64|\.X4)?(\+UR\d+)?\+?(-?0x[0-9a-f]+)?\]", place).groups()
    kind = {"G": "GLOBAL", "D": "GLOBAL", "L": "LOCAL", "S": "SHARED"}[i.name[2]]
    if kind == "GLOBAL":
        address = f"{wide(base)}+({offset or 0})"
    else:
        scaled = "*4" if scale == ".X4" else ""
        address = f"(uint64_t){value(base or 'RZ')}{scaled}+({offset or 0})"
    n = register(other)
    out = [f"{{uint8_t on[32];uint64_t at[32];L{{on[l]={when};at[l]={address};}}else on[l]=0;"]
    out.append(f"reach({kind},{int(not is_load)},on,at,{size});")
    where = "(uint8_t*)at[l]" if kind == "GLOBAL" else "local_bytes[l]+at[l]" if kind == "LOCAL" else "shared_bytes+at[l]"
    words = max(1, size // 4)
    for w in range(words):
        if is_load:
            read = {1: "uint8_t", 2: "uint16_t"}.get(size, "uint32_t")
            read = read[1:] if {"S8", "S16"} & set(i.modifiers) else read
            out.append(f"L if(on[l]) R[{n + w}][l]=(uint32_t)*({read}*)({where}+{4 * w});")
        else:
            write = {1: "uint8_t", 2: "uint16_t"}.get(size, "uint32_t")
            data = "0" if n is None else f"R[{n + w}][l]"
            stored = "+=" if i.name == "RED" else "="
            out.append(f"L if(on[l]) *({write}*)({where}+{4 * w}){stored}({write}){data};")
    return "".join(out) + "}"


def reads_and_writes(i):
    """Registers and predicates that an instruction takes, and that it makes; predicates count from 256."""
    pairs = {"WIDE", "64", "128", "U64", "S64", "F64"} & set(i.modifiers)
    args = list(i.args)
    is_store = i.name in ("STG", "STL", "STS", "RED")
    makes, takes = set(), set()
    is_out = not is_store and i.kind != "control"
    for n, arg in enumerate(args):
        numbers = {int(m) for m in re.findall(r"(?<!U)R(\d+)", arg)}
        numbers |= {256 + int(m) for m in re.findall(r"(?<!U)P(\d)", arg)}
        first = n == 0 or (is_predicate(arg) and n < 3 and (is_predicate(args[0]) or i.name in ("IADD3", "LEA", "IMAD")) and not {"X", "EX"} & set(i.modifiers))
        if is_predicate(args[0]) and i.name == "LOP3" and n == 1:
            first = True
        wide_arg = (first and pairs and not is_predicate(arg)) or ".64" in arg or (is_store and pairs and n == 1) or ("WIDE" in i.modifiers and n == len(args) - 1)
        if wide_arg:
            numbers |= {m + 1 for m in numbers if m < 255}
        (makes if first and is_out else takes).update(numbers)
    takes |= {256 + int(m) for m in re.findall(r"(?<!U)P(\d)", i.guard)}
    return sorted(takes), sorted(makes)


def translate(code):
    """C with a function `run` for these instructions; and the blocks that it counts."""
    parts = blocks(code)
    number = {part[0].at: n for n, part in enumerate(parts)}
    out = [PRELUDE]
    for n, part in enumerate(parts):
        out.append(f"case {n}:")
        for i in part:
            guard = predicate(i.guard) if i.guard else "1"
            takes, makes = reads_and_writes(i)
            out.append("t+=1;" + "".join(f"later({r});" for r in takes))
            # Calls that save no address are jumps.
            if i.name == "BRA" or (i.name == "CALL" and "NOINC" in i.modifiers):
                both = "&&".join([guard, *(predicate(a) for a in i.args[:-1])])
                out.append(f"L pc[l]=({both})?{number[int(i.args[-1], 16)]}:{n + 1}; t+=BRANCH;")
            elif i.name == "EXIT":
                out.append(f"L pc[l]=({guard})?END:{n + 1};")
            elif i.name in ("CALL", "RET"):
                out.append("unknown();")
            elif i.kind in ("global", "local", "shared"):
                out.append(memory(i, guard))
                out.append("".join(f"ready[{r}]=t+waits;" for r in makes))
            elif i.args and i.args[0][0] == "U" and i.name[0] == "U" or i.name == "R2UR":
                out.append(f"{{int l=first;if({guard}) {{{lane(i)}}}}}")
            else:
                done = lane(i)
                if done:
                    out.append(f"L if({guard}) {{{done}}}")
                if i.kind != "control":
                    out.append(f"busy({i.kind.upper()});")
                out.append("".join(f"ready[{r}]=t+{LATENCY[i.kind]};" for r in makes))
        if part[-1].name not in ("BRA", "EXIT", "CALL", "RET"):
            out.append(f"L pc[l]={n + 1};")
        out.append("break;")
    return "\n".join([*out, POSTLUDE]), parts


PRELUDE = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#define L for(int l=0;l<32;l++) if(A[l])
enum {END=1000000, ALU=0, MAD=1, SLOW=2, GLOBAL=3, LOCAL=4, SHARED=5};
#define BRANCH 8
static uint32_t R[256][32], U[64]; static uint8_t P[8][32], V[8], A[32]; static int pc[32];
static uint8_t constants[8192], local_bytes[32][16384], shared_bytes[65536];
static uint64_t ready[272], pipe_free[6], t, waits;
static double *stats;
static void unknown(void){fputs("machine_code.py: an instruction that it does not know yet\n",stderr);exit(1);}
static int hit=33, miss=250;
static uint32_t c32(int at){uint32_t v;memcpy(&v,constants+at,4);return v;}
static uint64_t c64(int at){uint64_t v;memcpy(&v,constants+at,8);return v;}
static uint64_t pair(uint32_t a,uint32_t b){return (uint64_t)b<<32|a;}
static float as_float(uint32_t v){float f;memcpy(&f,&v,4);return f;}
static double as_double(uint64_t bits){double d;memcpy(&d,&bits,8);return d;}
static uint32_t as_bits(float f){uint32_t v;memcpy(&v,&f,4);return v;}
static uint32_t half(float f){_Float16 h=(_Float16)f;uint16_t v;memcpy(&v,&h,2);return v;}
static uint32_t upto(uint32_t n,uint32_t most){return n<most?n:most;}
static uint32_t left(uint32_t v,uint32_t n){return n<32?v<<n:0;}
static uint32_t logic(uint32_t a,uint32_t b,uint32_t c,int table){uint32_t r=0;
 if(table&1)r|=~a&~b&~c; if(table&2)r|=~a&~b&c; if(table&4)r|=~a&b&~c; if(table&8)r|=~a&b&c;
 if(table&16)r|=a&~b&~c; if(table&32)r|=a&~b&c; if(table&64)r|=a&b&~c; if(table&128)r|=a&b&c; return r;}
static uint32_t permute(uint32_t a,uint32_t choice,uint32_t c){uint64_t w=pair(a,c);uint32_t r=0;
 for(int k=0;k<4;k++){int n=choice>>4*k&15;uint8_t v=w>>8*(n&7);if(n&8)v=v>>7?255:0;r|=(uint32_t)v<<8*k;}return r;}
static void later(int r){if(ready[r]>t)t=ready[r];}
static void busy(int pipe){if(pipe_free[pipe]>t)t=pipe_free[pipe];pipe_free[pipe]=t+(pipe==SLOW?8:2);}
/* Sectors of 32 bytes that this block of threads has read. */
#define SEEN 65536
static uint64_t seen[SEEN]; static uint64_t age=1;
static int is_new(uint64_t sector){uint64_t key=sector<<16|(age&65535);uint32_t h=(uint32_t)(sector*2654435761u)%SEEN;
 for(;;h=(h+1)%SEEN){if(seen[h]==key)return 0;if((seen[h]&65535)!=(age&65535)){seen[h]=key;return 1;}}}
/* Counts instructions, lanes, lines of 128 bytes, sectors, new sectors: of loads, then of stores. */
static void reach(int kind,int store,const uint8_t*on,const uint64_t*at,int size){
 uint64_t lines[64],sectors[64];int nl=0,ns=0,fresh=0,lanes=0;
 for(int l=0;l<32;l++)if(on[l]){lanes++;
  /* The local memory of 32 lanes is interleaved by words. */
  uint64_t a=kind==LOCAL?((at[l]/4*32+l)*4):at[l];int span=kind==LOCAL?size/4*128:size;
  for(uint64_t b=a/32;b<=(kind==LOCAL?a:a+span-1)/32;b++){int k=0;while(k<ns&&sectors[k]!=b)k++;if(k==ns&&ns<64)sectors[ns++]=b;}
  int k=0;while(k<nl&&lines[k]!=a/128)k++;if(k==nl&&nl<64)lines[nl++]=a/128;}
 if(kind==LOCAL&&size==8)nl*=2,ns*=2;
 if(kind==GLOBAL)for(int k=0;k<ns;k++)fresh+=is_new(sectors[k]);
 double*s=stats+(kind-GLOBAL)*10+5*store;s[0]++;s[1]+=lanes;s[2]+=nl;s[3]+=ns;s[4]+=fresh;
 if(pipe_free[kind]>t)t=pipe_free[kind];pipe_free[kind]=t+(nl>2?nl:2);
 waits=(kind==GLOBAL&&fresh&&!store?miss:hit)+nl;}
static void charge(int kind){stats[(kind-GLOBAL)*10+5]++;}
uint64_t run(const uint8_t*params,int size,int base,int block,long from,long to,long grid,double*counts,double*lanes,double*of_memory,double*times,int hit_cycles,int miss_cycles){
 memset(constants,0,sizeof constants);memcpy(constants+base,params,size);stats=of_memory;hit=hit_cycles;miss=miss_cycles;
 uint32_t stack=8192,g=(uint32_t)grid,b=(uint32_t)block;memcpy(constants+0x28,&stack,4);memcpy(constants,&b,4);memcpy(constants+0xc,&g,4);
 uint64_t total=0;
 for(long w=from;w<to;w++){
  long per=block/32;uint32_t cta=w/per,tid=w%per*32;if(w%per==0||w==from)age++;
  memset(ready,0,sizeof ready);memset(pipe_free,0,sizeof pipe_free);t=0;memset(R,0,sizeof R);memset(P,0,sizeof P);
  memset(P[7],1,32);for(int l=0;l<32;l++)pc[l]=0;
  for(;;){int n=END;for(int l=0;l<32;l++)if(pc[l]<n)n=pc[l];if(n==END)break;
   int first=-1,active=0;for(int l=0;l<32;l++){A[l]=pc[l]==n;active+=A[l];if(A[l]&&first<0)first=l;}
   counts[n]++;lanes[n]+=active;
   switch(n){
"""
POSTLUDE = r"""
   default: unknown();}}
  times[w-from]=(double)t;total+=t;}
 return total;}
"""
