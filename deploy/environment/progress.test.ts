import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { progressDisplay } from "./progress.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A terminal that knows what the display uses: cursor up and down, start of the line, and erase line. */
function terminal(columns = 80) {
  const rows = [""];
  let row = 0;
  return {
    isTTY: true,
    columns,
    write(text: string): boolean {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are terminal control sequences
      for (const [, count, move, plain] of text.matchAll(/\u001b\[(\d+)([ABK])|([^\u001b])/g)) {
        if (move === "A") row -= Number(count);
        else if (move === "B") row += Number(count);
        else if (move === "K") rows[row] = "";
        else if (plain === "\n") rows[++row] ??= "";
        else if (plain !== "\r") rows[row] += plain ?? "";
      }
      return true;
    },
    screen: () => rows.map((line) => line.replace(/ +/g, " ").trim()),
    rows,
  };
}

/** An output that is not a terminal. */
function file() {
  let text = "";
  return {
    isTTY: false,
    columns: 80,
    write(more: string): boolean {
      text += more;
      return true;
    },
    lines: () =>
      text
        .trimEnd()
        .split("\n")
        .map((line) => line.replace(/ +/g, " ").trim()),
  };
}

const nats = { binary: "nats-server", detail: "" } as const;
const etcd = { binary: "etcd", detail: "" } as const;
const cached = { phase: "found", detail: "cache: /home/somebody/.cache/denrei/bin/nats-server" } as const;

describe("on a terminal", () => {
  test("a part has one line, which is replaced as the part advances", () => {
    const out = terminal();
    const display = progressDisplay(out);
    display.show({ ...nats, ...cached });
    display.show({ ...etcd, ...cached });
    expect(out.screen()).toEqual(["nats-server found in the cache", "etcd found in the cache", ""]);
    display.show({ ...nats, phase: "starting" });
    display.show({ ...etcd, phase: "starting" });
    expect(out.screen()).toEqual(["nats-server starting", "etcd starting", ""]);
    display.show({ ...etcd, phase: "ready", elapsedMillis: 3141 });
    display.show({ ...nats, phase: "ready", elapsedMillis: 54 });
    expect(out.screen()).toEqual(["nats-server ready after 54 ms", "etcd ready after 3.1 s", ""]);
  });

  test("the line of a download changes ten times a second at most", () => {
    const out = terminal();
    const display = progressDisplay(out);
    const show = (bytes: number) => display.show({ ...nats, phase: "downloading", bytes, total: 10e6 });
    show(0);
    show(4e6);
    expect(out.screen()[0]).toBe("nats-server downloading [................] 0.0 MB of 10.0 MB");
    vi.advanceTimersByTime(100);
    show(5e6);
    expect(out.screen()[0]).toBe("nats-server downloading [########........] 5.0 MB of 10.0 MB");
    display.show({ ...nats, phase: "found", detail: "download: /cache/nats-server" });
    expect(out.screen()).toEqual(["nats-server downloaded", ""]);
  });

  test("cuts lines that would wrap", () => {
    const out = terminal(40);
    const display = progressDisplay(out);
    display.show({ ...nats, phase: "unavailable", detail: `official release: ${"x".repeat(100)}` });
    expect(out.rows[0]).toHaveLength(39);
    expect(out.rows[0]).toMatch(/official re.*…$/);
  });

  test("does not change lines above other output", () => {
    const out = terminal();
    const display = progressDisplay(out);
    display.show({ ...nats, phase: "starting" });
    display.done();
    out.write("something else\n");
    display.show({ ...nats, phase: "ready", elapsedMillis: 1 });
    expect(out.screen()).toEqual([
      "nats-server starting",
      "something else",
      "nats-server ready after 1 ms",
      "",
    ]);
  });
});

describe("without a terminal", () => {
  test("prints only the results of a part", () => {
    const out = file();
    const display = progressDisplay(out);
    display.show({ ...nats, ...cached });
    display.show({ ...nats, phase: "starting" });
    display.show({ ...nats, phase: "ready", elapsedMillis: 54 });
    expect(out.lines()).toEqual(["nats-server found in the cache", "nats-server ready after 54 ms"]);
  });

  test("names the path of a chosen program", () => {
    const out = file();
    progressDisplay(out).show({ ...nats, phase: "found", detail: "assets: /opt/bin/nats-server" });
    expect(out.lines()).toEqual(["nats-server found: /opt/bin/nats-server"]);
  });

  test("reports a running build every ten seconds", () => {
    const out = file();
    const display = progressDisplay(out);
    for (let elapsedSeconds = 0; elapsedSeconds < 25; elapsedSeconds++) {
      display.show({ ...nats, phase: "building", elapsedSeconds });
      vi.advanceTimersByTime(1000);
    }
    expect(out.lines().map((line) => /source, (\d+) s/.exec(line)?.[1])).toEqual(["0", "10", "20"]);
  });
});
