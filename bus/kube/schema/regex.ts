/**
 * Translates JavaScript's regular expressions to RE2, which the API server uses (https://github.com/google/re2/wiki/Syntax). An
 * expression without an exact equivalent is rejected.
 */
import { sameLetters } from "./letters.ts";

/** The regular expression has no equivalent in RE2. The message names the part and an alternative. */
export class UntranslatableRegexError extends Error {
  override readonly name = "UntranslatableRegexError";
}

/** Patterns of RE2: a string must match all of `matches`, and none of `mismatches`. */
export interface Re2Patterns {
  readonly matches: readonly string[];
  readonly mismatches: readonly string[];
}

/** Matches no string. */
export const neverPattern = "[^\\s\\S]";

const anything = "[\\x{0}-\\x{10FFFF}]";
const notLineEnd = "[^\\n\\r\\x{2028}\\x{2029}]";
/** JavaScript's `\s`. RE2's covers only ASCII. */
const spaces =
  "\\t\\n\\v\\f\\r \\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}\\x{FEFF}";
const mostRepeats = 1000;

const refuse = (what: string): never => {
  throw new UntranslatableRegexError(what);
};

/** Translates an expression. Each lookahead directly after a leading `^` becomes a separate pattern. */
export function re2Of({ source, flags }: RegExp): Re2Patterns {
  for (const flag of flags)
    if (!"dgius".includes(flag)) refuse(`the flag ${flag} has no equivalent: leave it out`);
  if (flags.includes("i") && flags.includes("u"))
    refuse(
      "the flags i and u together fold more letters than the API server does: write both cases, as in [Aa]",
    );
  const translated = (piece: string) => new Translation(piece, flags).result();
  const matches: string[] = [];
  const mismatches: string[] = [];
  let rest = source;
  for (let look = leadingLookahead(rest); look !== undefined; look = leadingLookahead(rest)) {
    (look.kind === "=" ? matches : mismatches).push(translated(`^(?:${look.inner})`));
    rest = `^${look.rest}`;
  }
  if (rest !== source && hasAlternatives(rest))
    refuse(
      "a lookahead before alternatives has no equivalent: put the alternatives in parentheses, as in ^(?=…)(?:a|b)$",
    );
  return { matches: [translated(rest), ...matches], mismatches };
}

function leadingLookahead(source: string): { kind: string; inner: string; rest: string } | undefined {
  const kind = /^\^\(\?([=!])/.exec(source)?.[1];
  if (kind === undefined) return undefined;
  let end = source.length;
  walk(source.slice(4), ({ at, depth, text }) => {
    if (text === ")" && depth < 0) end = Math.min(end, at + 4);
  });
  const rest = source.slice(end + 1);
  return /^[*+?{]/.test(rest) ? undefined : { kind, inner: source.slice(4, end), rest };
}

function hasAlternatives(source: string): boolean {
  let found = false;
  walk(source, ({ depth, text }) => {
    if (text === "|" && depth === 0) found = true;
  });
  return found;
}

/** Visits characters that are neither escaped nor in a class. `depth` is the nesting depth after the character. */
function walk(source: string, visit: (step: { at: number; depth: number; text: string }) => void): void {
  let depth = 0;
  let isInClass = false;
  for (let at = 0; at < source.length; at++) {
    const text = source[at] as string;
    if (text === "\\") at++;
    else if (isInClass) isInClass = text !== "]";
    else if (text === "[") isInClass = true;
    else {
      if (text === "(") depth++;
      if (text === ")") depth--;
      visit({ at, depth, text });
    }
  }
}

const codePoint = (code: number): string =>
  code >= 0xd800 && code <= 0xdfff
    ? refuse("JSON never contains half of a surrogate pair: leave it out")
    : `\\x{${code.toString(16).toUpperCase()}}`;

/** State of one translation. */
class Translation {
  private readonly source: string;
  private readonly isUnicode: boolean;
  private readonly ignoresCase: boolean;
  private readonly dotsMatchAll: boolean;
  private at = 0;
  private out = "";
  /** For each open group, the highest repeat count in it. */
  private readonly repeats = [1];
  private lastRepeat = 1;
  /** Number of atoms that match one UTF-16 unit in JavaScript, but a whole surrogate pair in RE2. */
  private wide = 0;

  constructor(source: string, flags: string) {
    this.source = source;
    this.isUnicode = flags.includes("u");
    this.ignoresCase = flags.includes("i");
    this.dotsMatchAll = flags.includes("s");
  }

  result(): string {
    while (this.at < this.source.length) this.step();
    return this.out;
  }

  private step(): void {
    const text = String.fromCodePoint(this.source.codePointAt(this.at) as number);
    this.at += text.length;
    if (text === "(") this.group();
    else if (text === ")") {
      const inner = this.repeats.pop() ?? 1;
      this.emit(")", inner);
      this.note(inner);
    } else if (text === "{") this.counted();
    else if (text === "[") this.class();
    else if (text === ".") this.wideAtom(this.dotsMatchAll ? anything : notLineEnd);
    else if (text === "\\") this.escape();
    else if ("*+?|^$".includes(text)) this.out += text;
    else this.literal(text);
  }

  private emit(text: string, repeats = 1): void {
    this.out += text;
    this.lastRepeat = repeats;
  }

  private note(repeats: number): void {
    const last = this.repeats.length - 1;
    this.repeats[last] = Math.max(this.repeats[last] ?? 1, repeats);
  }

  private group(): void {
    const [opening = "("] =
      /^\((\?(:|<(?![=!])[^>]*>|[^:]{0,2}))?/.exec(this.source.slice(this.at - 1)) ?? [];
    if (opening !== "(" && opening !== "(?:" && !opening.endsWith(">"))
      refuse(
        /^\(\?<?[=!]/.test(opening)
          ? `the API server has no lookaround (${opening}…): use lookaheads only directly after a leading ^`
          : `the group ${opening}… has no equivalent: use (?:…)`,
      );
    this.at += opening.length - 1;
    this.out += opening === "(" ? "(" : "(?:";
    this.repeats.push(1);
  }

  private counted(): void {
    const [counts, least = "", most = ""] =
      /^\{(\d+)(?:,(\d*))?\}/.exec(this.source.slice(this.at - 1)) ?? [];
    if (counts === undefined) {
      this.literal("{");
      return;
    }
    const repeats = Math.max(Number(least), Number(most), 1) * this.lastRepeat;
    if (repeats > mostRepeats)
      refuse(
        `the API server repeats at most ${mostRepeats} times, also in nested groups (${counts}): use .max()`,
      );
    this.at += counts.length - 1;
    this.out += counts;
    this.note(repeats);
  }

  /** Outside Unicode mode, an atom matches half of a surrogate pair, so counts and captures differ from RE2. */
  private wideAtom(text: string): void {
    const isAllowed =
      this.isUnicode ||
      (this.wide === 0 && this.repeats.length === 1 && /^[*+]/.test(this.source.slice(this.at)));
    if (!isAllowed)
      refuse(
        "without the flag u, JavaScript counts halves of characters such as emoji: add the flag u, as in /^[^a]$/u",
      );
    this.wide++;
    this.emit(text);
  }

  private literal(text: string): void {
    const code = text.codePointAt(0) as number;
    if (code > 0xffff && !this.isUnicode)
      refuse(`without the flag u, ${text} is two characters: add the flag u`);
    if (code > 0x7e || code < 0x20) {
      const codes = this.ignoresCase ? sameLetters(code) : [code];
      const all = codes.map(codePoint).join("");
      this.emit(codes.length > 1 ? `[${all}]` : all);
    } else if (this.ignoresCase && /[a-z]/i.test(text))
      this.emit(`[${text.toUpperCase()}${text.toLowerCase()}]`);
    else this.emit(/[{}\]]/.test(text) ? `\\${text}` : text);
  }

  private escape(): void {
    const escaped = this.escaped();
    if (typeof escaped === "number") this.emitCode(escaped);
    else if (escaped === "s") this.emit(`[${spaces}]`);
    else if (escaped === "S") this.wideAtom(`[^${spaces}]`);
    else if (escaped === "D" || escaped === "W") this.wideAtom(`\\${escaped}`);
    else this.emit(`\\${escaped}`);
  }

  private emitCode(code: number): void {
    const text = String.fromCodePoint(code);
    const isSpecial = code >= 0x20 && code <= 0x7e && !/[0-9A-Za-z]/.test(text);
    if (isSpecial) this.emit(`\\${text}`);
    else this.literal(text);
  }

  /** Reads an escape: returns the letter of a set or a boundary, or the code of a character. */
  private escaped(): string | number {
    const rest = this.source.slice(this.at);
    const [numeric, hex, control] = /^(?:x([0-9a-fA-F]{2})|c([A-Za-z]))/.exec(rest) ?? [];
    const [unicode, four, any] = /^u(?:([0-9a-fA-F]{4})|\{([0-9a-fA-F]+)\})/.exec(rest) ?? [];
    const text = String.fromCodePoint(rest.codePointAt(0) ?? 0x5c);
    this.at += (numeric ?? unicode ?? text).length;
    if (hex !== undefined) return Number.parseInt(hex, 16);
    if (control !== undefined) return control.toUpperCase().charCodeAt(0) - 64;
    if (four !== undefined) return this.pair(Number.parseInt(four, 16));
    if (any !== undefined && this.isUnicode) return Number.parseInt(any, 16);
    if ("dDwWsSbB".includes(text)) return text;
    const at = "tnvfr".indexOf(text);
    if (at >= 0) return "\t\n\v\f\r".charCodeAt(at);
    if (text === "0" && !/^\d/.test(rest.slice(1))) return 0;
    if (/[pP]/.test(text))
      return refuse(`\\${text} depends on the version of Unicode: write the ranges, as in [A-Za-z]`);
    if (/[1-9k]/.test(text))
      return refuse(`the API server does not support references to groups (\\${text})`);
    if (/[A-Za-z0-9]/.test(text)) return refuse(`\\${text} has no special meaning: leave out the backslash`);
    return text.codePointAt(0) as number;
  }

  /** In Unicode mode, two escapes can form one character. */
  private pair(high: number): number {
    const [all, low] = /^\\u([dD][c-fC-F][0-9a-fA-F]{2})/.exec(this.source.slice(this.at)) ?? [];
    if (!this.isUnicode || high < 0xd800 || high > 0xdbff || all === undefined) return high;
    this.at += all.length;
    return (high - 0xd800) * 0x400 + (Number.parseInt(low as string, 16) - 0xdc00) + 0x10000;
  }

  private class(): void {
    const [idiom, not] =
      /^(\^?)(?:\\s\\S|\\S\\s|\\d\\D|\\D\\d|\\w\\W|\\W\\w)\]/.exec(this.source.slice(this.at)) ?? [];
    if (idiom !== undefined) {
      this.at += idiom.length;
      if (not === "^") this.emit(neverPattern);
      else this.wideAtom(anything);
      return;
    }
    const isNegated = this.source[this.at] === "^";
    if (isNegated) this.at++;
    const { text, isWide } = this.members();
    if (isNegated) this.wideAtom(text === "" ? anything : `[^${text}]`);
    else if (text === "") this.emit(neverPattern);
    else if (isWide) this.wideAtom(`[${text}]`);
    else this.emit(`[${text}]`);
  }

  /** Translates a class up to its end. */
  private members(): { text: string; isWide: boolean } {
    let isWide = false;
    let text = "";
    while (this.source[this.at] !== "]") {
      const start = this.at;
      const from = this.member();
      if (typeof from === "string") {
        text += from;
        isWide ||= /^\\[DW]/.test(from);
        continue;
      }
      const to = this.rangeEnd() ?? from;
      isWide ||= to > 0xffff;
      const asWritten = this.source.slice(start, this.at);
      // A hyphen in the middle might become a range.
      const isPlain = /^(?:\\[^\w]|[ -,.-Z^-~])(?:-(?:\\[^\w]|[ -Z^-~]))?$/.test(asWritten);
      text += isPlain && !this.ignoresCase ? asWritten : this.range(from, to, start);
    }
    this.at++;
    return { text, isWide };
  }

  /** Reads a set in a class, or the code of a character. */
  private member(): string | number {
    const text = String.fromCodePoint(this.source.codePointAt(this.at) as number);
    this.at += text.length;
    const escaped = text === "\\" ? this.escaped() : (text.codePointAt(0) as number);
    if (typeof escaped === "number") {
      if (escaped > 0xffff && !this.isUnicode)
        refuse(`without the flag u, ${text} is two characters: add the flag u`);
      return escaped;
    }
    if (escaped === "s") return spaces;
    if (escaped === "b") return 8;
    if (escaped === "S" || escaped === "B")
      return refuse(`\\${escaped} in a class has no equivalent: write the ranges`);
    return `\\${escaped}`;
  }

  private rangeEnd(): number | undefined {
    if (this.source[this.at] !== "-" || this.source[this.at + 1] === "]") return undefined;
    this.at++;
    const end = this.member();
    return typeof end === "number" ? end : refuse(`a range cannot end with \\${end}: escape the hyphen`);
  }

  private range(from: number, to: number, start: number): string {
    const isAtEdge = /[[^]/.test(this.source[start - 1] ?? "") || this.source[this.at] === "]";
    if (from === 0x2d && to === 0x2d && isAtEdge) return "-";
    const written = (code: number): string => {
      if (code > 0x7e || code < 0x20) return codePoint(code);
      const text = String.fromCodePoint(code);
      return /[\\\]^[-]/.test(text) ? `\\${text}` : text;
    };
    const whole = from === to ? written(from) : `${written(from)}-${written(to)}`;
    if (!this.ignoresCase) return whole;
    const others = new Set<number>();
    for (let code = from; code <= to; code++)
      for (const other of sameLetters(code)) if (other < from || other > to) others.add(other);
    return whole + [...others].map(written).join("");
  }
}
