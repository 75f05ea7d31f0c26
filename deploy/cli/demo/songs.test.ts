import { expect, test, vi } from "vitest";
import { controllerReference, type Stored } from "../../../bus/kube/object.ts";
import { Hikawa, Kiyoshi, Zundoko } from "../../../functions/zundoko/kinds.ts";
import { saidByAnnotation } from "../../../functions/zundoko/names.ts";
import { Songs } from "./songs.ts";

const metadata = (name: string, uid: string) => ({ name, uid, namespace: "default", resourceVersion: "1" });

const hikawa = (uid: string, status?: Hikawa["status"]): Stored<Hikawa> => ({
  apiVersion: "zundokokiyoshi.kaitoy.github.com/v1beta1",
  kind: Hikawa.kind,
  metadata: metadata("song", uid),
  spec: { intervalMillis: 500 },
  ...(status && { status }),
});
const ended = (uid: string, words: number) => hikawa(uid, { kiyoshied: true, numZundokosSaid: words });

const saying = (kind: string, say: string, owner: string, replica: string): Stored<Zundoko> => ({
  apiVersion: "zundokokiyoshi.kaitoy.github.com/v1beta1",
  kind,
  metadata: {
    ...metadata(`song-${say}`, `${owner}-${say}`),
    annotations: { [saidByAnnotation]: replica },
    ownerReferences: [controllerReference(hikawa(owner))],
  },
  spec: { say: say as "Zun" },
});
const zun = (owner: string, replica = "worker-1") => saying(Zundoko.kind, "Zun", owner, replica);
const kiyoshi = (owner: string) => saying(Kiyoshi.kind, "Kiyoshi!", owner, "worker-1");

function listening() {
  const onEnd = vi.fn();
  return { songs: new Songs({ onEnd }), onEnd };
}

test("a song ends once, with its last word, when Kiyoshi and the status arrive before it", () => {
  const { songs, onEnd } = listening();
  songs.addWord(zun("a"));
  songs.change("ADDED", hikawa("a"));
  songs.addWord(kiyoshi("a"));
  songs.change("MODIFIED", ended("a", 2));
  expect(onEnd).not.toHaveBeenCalled();
  songs.addWord(zun("a", "worker-2"));
  songs.change("MODIFIED", ended("a", 2));
  expect(onEnd).toHaveBeenCalledOnce();
  expect(onEnd).toHaveBeenCalledWith(
    expect.objectContaining({
      ...{ uid: "a", name: "song" },
      words: [
        expect.objectContaining({ replica: "worker-1" }),
        expect.objectContaining({ replica: "worker-2" }),
      ],
    }),
  );
});

test("a Hikawa that was replaced under its name sings another song", () => {
  const { songs, onEnd } = listening();
  songs.change("ADDED", hikawa("a"));
  songs.addWord(zun("a"));
  songs.change("DELETED", hikawa("a"));
  songs.change("ADDED", hikawa("b"));
  songs.addWord(zun("b"));
  songs.addWord(kiyoshi("b"));
  songs.change("MODIFIED", ended("b", 1));
  expect(onEnd.mock.calls).toMatchObject([[{ uid: "b", words: [{ song: "b" }] }]]);
});

test("a song that has begun before has no end, because its first words are unknown", () => {
  const { songs, onEnd } = listening();
  songs.addWord(zun("a"));
  songs.addWord(kiyoshi("a"));
  songs.change("MODIFIED", ended("a", 7));
  expect(onEnd).not.toHaveBeenCalled();
});
