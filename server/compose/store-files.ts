/** What can be done with a store without its server. */
export { backupStore } from '../store/sqlite/backup.js'
export { checkStore } from '../store/sqlite/check/check-store.js'
