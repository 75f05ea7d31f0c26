import fc from "fast-check";
import { expect, test } from "vitest";
import { GitHubUrlError, githubApiUrl, graphqlPath } from "./url.ts";

test("url - maps an empty URL and those of github.com to its API", () => {
  const given = [
    undefined,
    "",
    "  ",
    "https://github.com",
    "https://github.com/",
    "HTTPS://GitHub.com:443//",
  ];
  for (const url of [...given, "http://github.com", "https://www.github.com", "https://api.github.com/"])
    expect(githubApiUrl(url), url).toBe("https://api.github.com");
});

test("url - an enterprise on GHE.com has its own API host", () => {
  for (const url of ["https://octo.ghe.com", "https://octo.ghe.com/", "https://api.octo.ghe.com"])
    expect(githubApiUrl(url), url).toBe("https://api.octo.ghe.com");
});

test("url - a host that only looks like github.com is a separate server", () => {
  for (const host of ["notgithub.com", "github.com.evil.example", "ghe.com.example", "github.com:8443"])
    expect(githubApiUrl(`https://${host}`), host).toBe(`https://${host}/api/v3`);
});

const segment = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,12}$/);
const server = fc.record({
  scheme: fc.constantFrom("http", "https"),
  host: fc.oneof(
    fc.constantFrom("ghe.example.com", "[::1]", "127.0.0.1", "localhost"),
    segment.map((it) => `a${it}.lan`),
  ),
  port: fc.option(fc.integer({ min: 1024, max: 65535 })),
  prefix: fc.array(segment, { maxLength: 3 }),
  ending: fc.constantFrom("", "/api/v3"),
  slashes: fc.integer({ min: 0, max: 3 }),
});

test("url - keeps a server's scheme, host, port, and prefix, and adds /api/v3 once", () => {
  fc.assert(
    fc.property(server, ({ scheme, host, port, prefix, ending, slashes }) => {
      const origin = `${scheme}://${host}${port === null ? "" : `:${port}`}`;
      const root = [origin, ...prefix].join("/");
      const api = githubApiUrl(`${root}${ending}${"/".repeat(slashes)}`);
      expect(api).toBe(`${root}/api/v3`);
      expect(githubApiUrl(api)).toBe(api);
    }),
  );
});

test("url - rejects texts that are not web addresses without showing secrets", () => {
  const refused: [string, RegExp][] = [
    ["ghe.example.com", /found "ghe.example.com", which is no URL/],
    ["https://bob:hunter2@ghe.example.com:x", /found "\*\*\*@ghe.example.com:x", which is no URL/],
    ["https:// ?hunter2", /which is no URL/],
    ["ssh://git@ghe.example.com", /found the scheme ssh:/],
    ["bob:hunter2@ghe.example.com", /found the scheme bob:/],
    ["https://bob:hunter2@ghe.example.com", /found a user or a password/],
    ["https://bob@ghe.example.com", /found a user or a password/],
    ["https://:hunter2@ghe.example.com", /found a user or a password/],
    ["https://ghe.example.com?token=hunter2", /found a query or a fragment/],
    ["https://ghe.example.com/?", /found a query or a fragment/],
    ["https://ghe.example.com/#hunter2", /found a query or a fragment/],
    ["https://github.com/octo", /found a path in "https:\/\/github.com\/octo"/],
    ["https://github.com/api/v3", /found a path/],
  ];
  for (const [url, found] of refused) {
    const refuse = () => githubApiUrl(url);
    expect(refuse, url).toThrow(GitHubUrlError);
    expect(refuse, url).toThrow(found);
    expect(refuse, url).toThrow(/^expected the web address of a GitHub .* Correct url/);
    expect(refuse, url).not.toThrow(/hunter2/);
  }
});

test("url - GraphQL is below the public API, and next to a server's", () => {
  expect(graphqlPath(githubApiUrl())).toBe("/graphql");
  expect(graphqlPath(githubApiUrl("https://acme.ghe.com"))).toBe("/graphql");
  expect(graphqlPath(githubApiUrl("https://ghe.example.com/at/"))).toBe(
    "https://ghe.example.com/at/api/graphql",
  );
});
