/** Revokes tokens before they expire. */
import type { Context } from "denrei";
import type { GitHubAppClient } from "denrei/github";

/** Revokes tokens. A token that cannot be revoked expires within the hour. */
export async function revoke(
  client: GitHubAppClient,
  tokens: readonly string[],
  ctx: Context,
): Promise<void> {
  for (const token of tokens) {
    await client.revokeToken(token, ctx.signal).catch((error: unknown) => {
      ctx.log.warn({ err: error }, "failed to revoke a token");
    });
  }
}
