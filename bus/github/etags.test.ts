import { expect, test } from "vitest";
import { conditional, etagCache } from "./etags.ts";

const kept = (bytes: number) => ({ etag: '"a"', body: Buffer.alloc(bytes), headers: {} });

test("etags - drops the least recently used response, and does not keep one that is too long", () => {
  const etags = etagCache({ limitBytes: 10_000 });
  const keys = ["a", "b", "c", "d"];
  const there = () => keys.filter((key) => etags.get(key) !== undefined);
  for (const key of ["a", "b", "c"]) etags.set(key, kept(2000));
  expect(there()).toEqual(["a", "b", "c"]);
  etags.get("a");
  etags.set("d", kept(2000));
  expect(there()).toEqual(["a", "c", "d"]);
  etags.set("b", kept(10_000));
  expect(there()).toEqual(["a", "c", "d"]);
  etags.set("b", kept(9000));
  expect(there()).toEqual(["b"]);
});

test("etags - replaces a response and its size", () => {
  const etags = etagCache({ limitBytes: 10_000 });
  for (let count = 0; count < 9; count++) etags.set("a", kept(4000));
  etags.set("b", kept(4000));
  expect([etags.get("a"), etags.get("b")]).not.toContain(undefined);
  etags.set("a", kept(10_000));
  expect(etags.get("a")).toBeUndefined();
  expect(etags.get("b")).toBeDefined();
});

test("etags - does not keep a response without an ETag, or with an error", async () => {
  const etags = etagCache({ limitBytes: 10_000 });
  const answers = [
    new Response("a"),
    new Response("b", { status: 404, headers: { etag: '"b"' } }),
    new Response("c", { headers: { etag: '"c"', link: "<l>", "x-more": "d" } }),
    new Response(null, { status: 304 }),
  ];
  const asked: (string | null)[] = [];
  const fetch = conditional(
    async (_, init) => {
      asked.push(new Headers(init.headers).get("if-none-match"));
      return answers.shift() as Response;
    },
    etags,
    "somebody",
  );
  const got: unknown[] = [];
  for (let count = 0; count < 4; count++) {
    const response = await fetch("http://any/a", { headers: {} });
    got.push([response.status, await response.text(), response.headers.get("link")]);
  }
  expect(asked).toEqual([null, null, null, '"c"']);
  expect(got).toEqual([
    [200, "a", null],
    [404, "b", null],
    [200, "c", "<l>"],
    [200, "c", "<l>"],
  ]);
});
