// Reads objects as others read them: kstatus (kubectl wait, Flux, Helm), Argo CD's health scripts, and the API
// server's printer columns. Input and output are JSON; a test compares.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

type input struct {
	// Argo CD's script for the kind.
	Script string `json:"script"`
	// JSON path by the column's name.
	Columns map[string]string                 `json:"columns"`
	Objects map[string]map[string]interface{} `json:"objects"`
}

type health struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

type verdict struct {
	Kstatus string            `json:"kstatus"`
	Health  health            `json:"health"`
	Columns map[string]string `json:"columns"`
}

func main() {
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		fail("input", err)
	}
	out := map[string]verdict{}
	for name, object := range in.Objects {
		v, err := read(&in, object)
		if err != nil {
			fail(name, err)
		}
		out[name] = v
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		fail("output", err)
	}
}

func fail(what string, err error) {
	fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
	os.Exit(1)
}

func read(in *input, object map[string]interface{}) (verdict, error) {
	result, err := status.Compute(&unstructured.Unstructured{Object: integers(object).(map[string]interface{})})
	if err != nil {
		return verdict{}, fmt.Errorf("kstatus: %w", err)
	}
	judged, err := judge(in.Script, object)
	if err != nil {
		return verdict{}, fmt.Errorf("health.lua: %w", err)
	}
	columns := map[string]string{}
	for name, path := range in.Columns {
		text, err := column(path, object)
		if err != nil {
			return verdict{}, fmt.Errorf("column %s: %w", name, err)
		}
		columns[name] = text
	}
	return verdict{Kstatus: result.Status.String(), Health: judged, Columns: columns}, nil
}

// The API server's own reading of a column: absent is empty.
func column(path string, object map[string]interface{}) (string, error) {
	parser := jsonpath.New("column").AllowMissingKeys(true)
	if err := parser.Parse("{" + path + "}"); err != nil {
		return "", err
	}
	var text bytes.Buffer
	if err := parser.Execute(&text, object); err != nil {
		return "", err
	}
	return text.String(), nil
}

// As Argo CD runs a health script: with the base, table and package libraries and nothing else, the object as `obj`,
// and the table that the script returns.
func judge(script string, object map[string]interface{}) (health, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for _, library := range []struct {
		name string
		open lua.LGFunction
	}{{lua.LoadLibName, lua.OpenPackage}, {lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable}} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(library.open), Protect: true}, lua.LString(library.name)); err != nil {
			return health{}, err
		}
	}
	state.SetGlobal("obj", value(state, object))
	if err := state.DoString(script); err != nil {
		return health{}, err
	}
	table, is := state.Get(-1).(*lua.LTable)
	if !is {
		return health{}, fmt.Errorf("it returns no table")
	}
	found := health{Status: text(table.RawGetString("status")), Message: text(table.RawGetString("message"))}
	if !strings.Contains(" Healthy Progressing Degraded Suspended ", " "+found.Status+" ") {
		return health{}, fmt.Errorf("%q is no health", found.Status)
	}
	return found, nil
}

func text(value lua.LValue) string {
	if value == lua.LNil {
		return ""
	}
	return value.String()
}

func value(state *lua.LState, from interface{}) lua.LValue {
	switch from := from.(type) {
	case nil:
		return lua.LNil
	case bool:
		return lua.LBool(from)
	case float64:
		return lua.LNumber(from)
	case string:
		return lua.LString(from)
	case []interface{}:
		table := state.CreateTable(len(from), 0)
		for _, item := range from {
			table.Append(value(state, item))
		}
		return table
	case map[string]interface{}:
		table := state.CreateTable(0, len(from))
		for key, item := range from {
			table.RawSetString(key, value(state, item))
		}
		return table
	}
	return lua.LNil
}

// Unstructured objects hold whole numbers as int64, as the API machinery decodes them.
func integers(from interface{}) interface{} {
	switch from := from.(type) {
	case float64:
		if whole := int64(from); float64(whole) == from {
			return whole
		}
	case []interface{}:
		all := make([]interface{}, len(from))
		for index, item := range from {
			all[index] = integers(item)
		}
		return all
	case map[string]interface{}:
		all := map[string]interface{}{}
		for key, item := range from {
			all[key] = integers(item)
		}
		return all
	}
	return from
}
