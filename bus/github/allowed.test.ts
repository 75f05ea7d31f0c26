import { expect, test } from "vitest";
import { allowedApiUrl, allowedUrlsIn, allowedUrlsVariable, GitHubNotAllowedError } from "./allowed.ts";
import { GitHubUrlError } from "./url.ts";

test.each(["", "https://github.com", "https://octo.ghe.com", "https://api.github.com"])(
  "a GitHub that GitHub runs is allowed: %s",
  (url) => {
    expect(allowedApiUrl(url, [])).toMatch(/^https:\/\/api\./);
  },
);

test.each([
  "http://127.0.0.1:8080",
  "https://127.0.0.1",
  "http://169.254.169.254",
  "https://github.example.com",
  "https://github.com.evil.net",
  "https://github.com:8443",
  "https://evil.net/github.com",
  "https://ghe.com",
  "https://ghe.example.com",
  "https://ghe.example.com:444/github",
  "http://ghe.example.com/github",
  "https://ghe.example.com/github/../other",
])("another address is not: %s", (url) => {
  expect(() => allowedApiUrl(url, ["https://ghe.example.com/github"])).toThrow(GitHubNotAllowedError);
});

test.each(["http://github.com", "HTTP://GitHub.com", " http://octo.ghe.com"])(
  "clear text to a GitHub that GitHub runs is not: %s",
  (url) => {
    expect(() => allowedApiUrl(url, [url])).toThrow(/not encrypted, so nothing is sent/);
  },
);

test("allows what an operator lists, including clear text, in any notation", () => {
  const allowed = allowedUrlsIn({ [allowedUrlsVariable]: "https://ghe.example.com, http://127.0.0.1:8080/" });
  for (const url of ["https://ghe.example.com/", "https://GHE.example.com/api/v3", "http://127.0.0.1:8080"])
    expect(() => allowedApiUrl(url, allowed), url).not.toThrow();
  expect(allowedUrlsIn({})).toEqual([]);
  expect(() => allowedUrlsIn({ [allowedUrlsVariable]: "github" })).toThrow(GitHubUrlError);
});
