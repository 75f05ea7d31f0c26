/** What an issuer keeps, apart from it: one that has new keys goes on with the sessions of before. */
import type { Adapter, AdapterFactory, AdapterPayload } from "oidc-provider";

/** Keeps everything in memory, for as long as a test lasts. */
export function memoryStore(): AdapterFactory {
  const kept = new Map<string, AdapterPayload>();

  return (model: string): Adapter => {
    const keyOf = (id: string) => `${model}:${id}`;
    const by = async (field: "uid" | "userCode", value: string) =>
      [...kept].find(([key, payload]) => key.startsWith(`${model}:`) && payload[field] === value)?.[1];
    return {
      async upsert(id, payload) {
        kept.set(keyOf(id), payload);
      },
      find: async (id) => kept.get(keyOf(id)),
      findByUid: (uid) => by("uid", uid),
      findByUserCode: (userCode) => by("userCode", userCode),
      async consume(id) {
        const payload = kept.get(keyOf(id));
        if (payload) payload.consumed = Math.floor(Date.now() / 1000);
      },
      async destroy(id) {
        kept.delete(keyOf(id));
      },
      async revokeByGrantId(grantId) {
        for (const [key, payload] of kept) if (payload.grantId === grantId) kept.delete(key);
      },
    };
  };
}
