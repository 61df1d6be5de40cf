package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Entry is what one response brought.
type Entry struct {
	Cursor  string   `json:"cursor"`
	Results []Result `json:"results"`
}

// Result is as much of a result as this consumer is about.
type Result struct {
	Sequence uint64          `json:"sequence"`
	TaskID   string          `json:"taskId"`
	Run      int64           `json:"run"`
	Outcome  string          `json:"outcome"`
	Output   json.RawMessage `json:"output"`
}

// Journal keeps entries, one line of JSON each. Because results and cursor are one write, a crash loses both or
// neither: nothing is missed and nothing is kept twice.
type Journal struct {
	Cursor string
	file   *os.File
}

// OpenJournal finds where the last complete entry ended.
func OpenJournal(path string) (*Journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	journal := &Journal{file: file}
	whole, err := journal.readWhole()
	if err == nil {
		err = file.Truncate(whole)
	}
	if err == nil {
		_, err = file.Seek(whole, io.SeekStart)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return journal, nil
}

// readWhole reads up to the first line without an end, which a crash in the middle of a write leaves.
func (j *Journal) readWhole() (int64, error) {
	reader, whole := bufio.NewReader(j.file), int64(0)
	for {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return whole, nil
		}
		if err != nil {
			return 0, err
		}
		var entry Entry
		if err := json.Unmarshal(line, &entry); err != nil {
			return 0, fmt.Errorf("%s is not a journal: %w", j.file.Name(), err)
		}
		j.Cursor = entry.Cursor
		whole += int64(len(line))
	}
}

// Append keeps an entry, on disk when it returns. What must happen with the results, happens here: in the same
// transaction as the cursor.
func (j *Journal) Append(entry Entry) error {
	line, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return err
	}
	if err := j.file.Sync(); err != nil {
		return err
	}
	j.Cursor = entry.Cursor
	return nil
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }
