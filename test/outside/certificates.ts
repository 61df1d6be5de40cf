import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** An authority, and certificates of it for the server (127.0.0.1, localhost) and one client, as PEM files in a folder. */
export function makeCertificates(at: string): void {
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { cwd: at, stdio: 'pipe' })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    'ca-key.pem',
    '-out',
    'ca.pem',
    '-days',
    '2',
    '-subj',
    '/CN=test authority',
  )
  writeFileSync(join(at, 'names.cnf'), 'subjectAltName = IP:127.0.0.1, DNS:localhost\n')
  for (const name of ['server', 'client']) {
    openssl('req', ...newKey, '-keyout', `${name}-key.pem`, '-out', `${name}.csr`, '-subj', `/CN=${name}`)
    const sign = [
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca-key.pem',
      '-CAcreateserial',
      '-days',
      '2',
      '-extfile',
      'names.cnf',
    ]
    openssl('x509', '-req', '-in', `${name}.csr`, ...sign, '-out', `${name}.pem`)
  }
}
