/** Credentials of GitHub in a text: what is shown or logged must not hold any. */

/** A block that has lost its end goes on to the end of the text. */
const keyBlock = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;
/** What a token can be made of: a stateless one holds a JWT, with its dots. */
const run = /[\w.-]+/g;
const token = /(?:gh[oprsu]|github_pat)_[\w.-]/;

/**
 * The text with everything replaced by `***` that looks like a GitHub credential of any length: tokens (`ghs_`, `ghp_`,
 * `gho_`, `ghu_`, `ghr_`, `github_pat_`), JWTs and PEM private keys. What stands before a token without a separator
 * stays, what follows it goes. Prefixes: https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats/,
 * stateless tokens: https://github.blog/changelog/2026-05-15-github-app-installation-tokens-per-request-override-header/
 */
export const redactTokens = (text: string): string =>
  text.replace(keyBlock, "***").replace(run, (word) => {
    const starts = [word.search(token), startOfJwt(word)].filter((at) => at >= 0);
    return starts.length === 0 ? word : `${word.slice(0, Math.min(...starts))}***`;
  });

/** `{"` in base64, and two dots after it; -1 if there is none. The first one has the most dots after it. */
function startOfJwt(word: string): number {
  const at = word.indexOf("eyJ");
  return at >= 0 && word.slice(at).split(".").length > 2 ? at : -1;
}
