package embedding
import ("testing";"os";"bufio";"encoding/json";"encoding/gob";"compress/gzip";"strings";"sync")
func TestZZEmbed(t *testing.T){
	b:=open(t)
	for _,name:=range strings.Fields(os.Getenv("ZZ")) {
		f,_:=os.Open("/work/shared/data/"+name+".jsonl.gz"); g,_:=gzip.NewReader(f)
		sc:=bufio.NewScanner(g); sc.Buffer(nil,1<<24)
		docs:=map[string][]float32{}; qs:=map[string][]float32{}
		var dl,ql []string
		for sc.Scan(){ var r struct{Unit,Speaker,Text,Question string; Context []string}
			if json.Unmarshal(sc.Bytes(),&r)!=nil {continue}
			if r.Unit!="" { if r.Speaker!="" {r.Text=r.Speaker+": "+r.Text}; dl=append(dl,r.Text) } else if r.Question!="" { ql=append(ql,r.Question); if len(r.Context)>0 { ql=append(ql, strings.Join(r.Context,"\n")+"\n"+r.Question); ql=append(ql,r.Context...) } } }
		var mu sync.Mutex; var wg sync.WaitGroup
		for w:=range 2 { wg.Go(func(){
			for i:=w;i<len(dl);i+=2 { v,_:=b.Embed(t.Context(),dl[i:i+1]); mu.Lock(); docs[dl[i]]=v[0]; mu.Unlock() }
			for i:=w;i<len(ql);i+=2 { mu.Lock(); _,ok:=qs[ql[i]]; mu.Unlock(); if ok {continue}; v,_:=b.EmbedQuery(t.Context(),ql[i]); mu.Lock(); qs[ql[i]]=v; mu.Unlock() }
		})}
		wg.Wait()
		o,_:=os.Create("/tmp/i1-"+name+".gob"); gob.NewEncoder(o).Encode([]map[string][]float32{docs,qs}); o.Close()
		t.Log(name,len(docs),len(qs))
	}
}
