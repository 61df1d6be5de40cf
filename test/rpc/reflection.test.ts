import { fromBinary } from '@bufbuild/protobuf'
import { type FileDescriptorProto, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { describe, expect, it } from 'vitest'
import { rpc, TestServer } from './test-server.js'

const SERVICES = [
  'grpc.health.v1.Health',
  'grpc.reflection.v1.ServerReflection',
  'grpc.reflection.v1alpha.ServerReflection',
  'punctual.v1.SchedulerService',
]

/** Asks one question; both versions have the same fields: 3 = file by name, 4 = file by symbol, 7 = services. */
async function ask(
  test: TestServer,
  version: string,
  field: number,
  text: string,
): Promise<Map<number, Buffer[]>> {
  const question = new BinaryWriter()
    .uint32(field * 8 + 2)
    .string(text)
    .finish()
  const same = (bytes: Buffer): Buffer => bytes
  const call = test
    .client()
    .makeBidiStreamRequest(`/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`, same, same)
  call.write(Buffer.from(question))
  call.end()
  const answers: Buffer[] = []
  for await (const answer of call) answers.push(answer as Buffer)
  return fieldsOf(answers[0] ?? Buffer.alloc(0))
}

/** The length-delimited fields of a message. */
function fieldsOf(bytes: Buffer): Map<number, Buffer[]> {
  const found = new Map<number, Buffer[]>()
  const reader = new BinaryReader(bytes)
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag()
    if (wireType === WireType.LengthDelimited)
      found.set(number, [...(found.get(number) ?? []), Buffer.from(reader.bytes())])
    else reader.skip(wireType, number)
  }
  return found
}

async function files(
  test: TestServer,
  version: string,
  field: number,
  text: string,
): Promise<FileDescriptorProto[]> {
  const [answer] = (await ask(test, version, field, text)).get(4) ?? []
  return (fieldsOf(answer ?? Buffer.alloc(0)).get(1) ?? []).map((file) =>
    fromBinary(FileDescriptorProtoSchema, file),
  )
}

/** Names of what has no comment. A place is told as field numbers of the descriptor: 4 message, 5 enum, 6 service, and 2 for what each holds. */
function withoutComment(file: FileDescriptorProto): string[] {
  const explained = new Set(
    file.sourceCodeInfo?.location
      .filter(({ leadingComments }) => leadingComments.trim() !== '')
      .map(({ path }) => path.join('.')),
  )
  const groups = [
    [4, file.messageType.map(({ name, field }) => ({ name, members: field }))],
    [5, file.enumType.map(({ name, value }) => ({ name, members: value }))],
    [6, file.service.map(({ name, method }) => ({ name, members: method }))],
  ] as const
  return groups.flatMap(([number, items]) =>
    items.flatMap(({ name, members }, i) => [
      ...(explained.has(`${number}.${i}`) ? [] : [name]),
      ...members.flatMap((member, j) =>
        explained.has(`${number}.${i}.2.${j}`) ? [] : [`${name}.${member.name}`],
      ),
    ]),
  )
}

describe.each(['v1', 'v1alpha'])('reflection %s', (version) => {
  it('names every service on the port', async () => {
    const test = await TestServer.start()
    const [list] = (await ask(test, version, 7, '')).get(6) ?? []
    const names = (fieldsOf(list ?? Buffer.alloc(0)).get(1) ?? []).map((service) =>
      String(fieldsOf(service).get(1)?.[0]),
    )
    expect(names.toSorted()).toEqual(SERVICES)
  })

  it.each(SERVICES)('resolves every file that %s imports (C120)', async (service) => {
    const test = await TestServer.start()
    const known = new Set<string>()
    const wanted: string[] = []
    const take = (found: FileDescriptorProto[]): void => {
      for (const file of found) {
        known.add(file.name)
        wanted.push(...file.dependency.filter((name) => !known.has(name)))
      }
    }
    take(await files(test, version, 4, service))
    expect(known.size).toBeGreaterThan(0)
    for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
      if (!known.has(name)) take(await files(test, version, 3, name))
      expect(known).toContain(name)
    }
  })

  it('explains every method, message, field and value of the contract: for many it is the only manual', async () => {
    const test = await TestServer.start()
    const unexplained: string[] = []
    for (const name of ['task', 'result', 'scheduler_service']) {
      for (const file of await files(test, version, 3, `punctual/v1/${name}.proto`)) {
        if (file.package === 'punctual.v1') unexplained.push(...withoutComment(file))
      }
    }
    expect(unexplained).toEqual([])
  })

  it.each(['constructor', '__proto__', 'toString', 'x'.repeat(200_000)])(
    'survives a question for %.20s',
    async (symbol) => {
      const test = await TestServer.start()
      await ask(test, version, 4, symbol).catch(() => {})
      await ask(test, version, 3, symbol).catch(() => {})
      expect((await test.call(rpc.getServerInfo)).version).not.toBe('')
    },
  )
})
